#!/usr/bin/env python3
"""Session processes that are started before their peers are there (sshd/spare_sessions.h): each serves one peer, they are made
again, never more than four wait, and what becomes of one of them is nobody else's trouble."""
import os
import re
import select
import signal
import socket
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import front_end  # noqa: E402
from ssh_strangers import OPTIONS, until  # noqa: E402

MOST = 4
SOON = 20  # seconds; a sanitizer's program takes one to start


class Spares(unittest.TestCase):
    CONFIG = {}

    def setUp(self):
        self.own = front_end.FrontEnd(**self.CONFIG)
        self.addCleanup(self.own.stop)

    def wait_for_all(self):
        self.assertTrue(until(lambda: len(self.own.spares()) == MOST, SOON), self.own.children())

    def greeted(self):
        peer = socket.create_connection(("127.0.0.1", self.own.port), SOON)
        self.addCleanup(peer.close)
        self.assertTrue(peer.recv(255).startswith(b"SSH-2.0-mayfly"))
        return peer

    def logs_in(self):
        done = subprocess.run(["/usr/bin/ssh", *OPTIONS, "-p", str(self.own.port), "run@127.0.0.1", "cat"], stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=60, check=False)
        return done.returncode == 0

    def ended_early(self):
        return len(re.findall(r"sshd\.spare_ended", self.own.log_text()))


class MadeAhead(Spares):
    def test_four_wait_and_the_oldest_serves_the_next_peer(self):
        self.wait_for_all()
        before = self.own.spares()
        self.assertFalse(until(lambda: len(self.own.spares()) > MOST, 1))
        self.assertEqual(sorted(self.own.spares()), sorted(before))
        self.greeted()
        self.assertEqual(self.own.sessions(), [min(before)])  # pids go up
        self.wait_for_all()
        self.assertEqual(sorted(set(before) - set(self.own.spares())), [min(before)])

    def test_a_process_serves_one_peer_and_ends(self):
        self.wait_for_all()
        first = min(self.own.spares())
        self.assertTrue(self.logs_in())
        self.assertTrue(until(lambda: first not in self.own.children(), SOON))

    def test_more_peers_than_wait_for_them_are_served_all_the_same(self):
        self.wait_for_all()
        peers = [self.greeted() for _ in range(3 * MOST)]
        self.assertTrue(until(lambda: len(self.own.sessions()) == len(peers), SOON))
        self.assertTrue(self.logs_in())

    def test_one_that_ends_by_itself_is_told_and_keeps_nobody_out(self):
        self.wait_for_all()
        for pid in self.own.spares():
            os.kill(pid, signal.SIGKILL)
        self.assertTrue(until(lambda: self.ended_early() == MOST, SOON), self.own.log_text())
        # Not made again by itself: what ended these may end the next, for ever.
        self.assertFalse(until(lambda: self.own.children(), 1), self.own.children())
        self.assertTrue(self.logs_in())
        self.wait_for_all()
        self.assertEqual(self.ended_early(), MOST)

    def test_those_that_wait_end_with_their_listener(self):
        self.wait_for_all()
        waiting = [os.pidfd_open(pid) for pid in self.own.spares()]
        self.own.sshd.send_signal(signal.SIGKILL)
        for pidfd in waiting:
            try:  # it is readable when the process has ended
                self.assertTrue(until(lambda fd=pidfd: select.select([fd], [], [], 0)[0], SOON))
            finally:
                os.close(pidfd)

    def test_the_grace_time_begins_with_the_peer(self):
        self.wait_for_all()
        time.sleep(2)
        begin = time.monotonic()
        peer = self.greeted()
        peer.settimeout(40)
        while peer.recv(4096):
            pass
        self.assertGreater(time.monotonic() - begin, 19)
        self.assertLess(time.monotonic() - begin, 24)


class NotMadeAhead(Spares):
    CONFIG = {"madeAhead": False}

    def test_none_is_started_before_its_peer_where_the_configuration_says_so(self):
        self.assertTrue(self.logs_in())
        self.assertFalse(until(lambda: self.own.children(), 1.5) and self.own.spares(), self.own.children())
        self.greeted()
        self.assertEqual(len(self.own.sessions()), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
