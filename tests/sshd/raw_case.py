"""What every test of a hostile peer begins and ends with: a good session through the same driver, before and after.

Afterwards nothing of the hostile one is left: its session process has ended, the listener has the descriptors that it had,
the next login takes less than two seconds, no session has crashed, and no sanitizer has complained.
"""
import os
import re
import time
import unittest

import client
import front_end
import raw_ssh
from raw_channel import Gone, Silence
from raw_messages import ADJUST, DATA, GLOBAL_FAILURE, GLOBAL_REQUEST, text

LOGIN_LIMIT = 2.0
IN_TROUBLE = re.compile(r"sshd\.session_(died|failed|not_started).*|.*ERROR: \w+Sanitizer.*|.*runtime error:.*")


class RawCase(unittest.TestCase):
    trouble_expected = "none"

    def setUp(self):
        self.front_end = client.FRONT_END
        self.assertTrue(self.is_served())
        self.assertTrue(client.until(lambda: not self.front_end.sessions(), 20))
        self.addCleanup(self.nothing_is_left, self.descriptors(), len(self.front_end.log_text()))

    def nothing_is_left(self, descriptors, log_length):
        self.assertTrue(client.until(lambda: not self.front_end.sessions(), 20), "sessions are left")
        self.assertTrue(client.until(lambda: self.descriptors() == descriptors, 5), "descriptors are left")
        self.assertTrue(any(self.is_served_in_time() for _ in range(3)))
        troubles = [found.group(0) for found in IN_TROUBLE.finditer(self.front_end.log_text()[log_length:])]
        self.assertEqual([trouble for trouble in troubles if self.trouble_expected not in trouble], [])

    def descriptors(self):
        """Without the two for each session process that waits for a peer: there may be more or fewer of these at any time."""
        while True:
            before = self.front_end.children()
            count = len(os.listdir("/proc/%d/fd" % self.front_end.sshd.pid))
            if self.front_end.children() == before and set(before.values()) <= {front_end.SPARE, front_end.SERVING}:
                return count - 2 * len(self.front_end.spares())

    def memory(self):
        """KiB that the one session process holds."""
        pids = self.front_end.sessions()
        self.assertEqual(len(pids), 1)
        with open("/proc/%d/status" % pids[0]) as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1))

    def assert_grew_little(self, before, most=8 << 10):
        if not front_end.is_sanitized():  # that keeps what is freed
            self.assertLess(self.memory() - before, most)

    def is_served_in_time(self):
        begin = time.monotonic()
        return self.is_served() and time.monotonic() - begin < LOGIN_LIMIT

    def is_served(self):
        """A whole session, by the driver that the hostile ones have."""
        peer = raw_ssh.inside(client.PORT)
        try:
            channel = peer.open_channel()
            return channel.run("cat; exit 3") and self.echoes(channel)
        finally:
            peer.close()

    @staticmethod
    def echoes(channel):
        channel.send(b"there?")
        channel.end_input()
        told = channel.to_the_end()
        return (told.out, told.order[0], told.order[-2]) == (b"there?", DATA, "exit-status")

    def peer(self, offer=raw_ssh.Offer()):
        """Connected, and nothing said."""
        return self.ending(raw_ssh.RawPeer(client.PORT, offer))

    def greeted(self):
        peer = self.peer()
        peer.greet()
        return peer

    def with_keys(self, offer=raw_ssh.Offer()):
        return self.ending(raw_ssh.with_keys(client.PORT, offer))

    def inside(self, offer=raw_ssh.Offer()):
        return self.ending(raw_ssh.inside(client.PORT, offer))

    def ending(self, peer):
        self.addCleanup(peer.close)
        return peer

    def asked_of_the_supervisor(self):
        """What was asked of it since the test asked last."""
        heard = self.front_end.heard()
        seen, self.front_end.seen = getattr(self.front_end, "seen", 0), len(heard)
        return [message["say"] for message in heard[seen:]]

    def assert_ends(self, peer, seconds=5):
        """The other side leaves; the reason that it gave, if it gave one."""
        try:
            return peer.read_until_gone(seconds)[-1].reason
        except Silence:
            self.fail("the connection is still there")

    def assert_alive(self, peer):
        """A request of no meaning is answered: the connection is as good as before."""
        peer.send(bytes([GLOBAL_REQUEST]) + text("are-you-there@example.org") + b"\1")
        answer = peer.read()
        while answer[0] == ADJUST:
            answer = peer.read()
        self.assertEqual(answer[0], GLOBAL_FAILURE)


def attempted(action, *arguments):
    """Of what may fail because the other side has left already."""
    try:
        return action(*arguments)
    except Gone:
        return None
