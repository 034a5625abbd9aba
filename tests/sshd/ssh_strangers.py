#!/usr/bin/env python3
"""P42: peers that never log in do not keep others out. Floods, failing logins, other protocols (hostile.md B07 to B10, B38).

Each test has a listener of its own; the addresses of 127/8 are its sources. Some of them penalise loopback, which a service
does not.
"""
import os
import re
import resource
import select
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import front_end  # noqa: E402

LOGIN_LIMIT = 2.0
OPTIONS = ["-F", "none", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR",
           "-o", "IdentitiesOnly=yes", "-o", "IdentityFile=none", "-o", "BatchMode=yes", "-o", "ConnectTimeout=20"]
BUSY = b"Not allowed at this time\r\n"
FULL = b"Too many connections from your address\r\n"
NOT_NOW = b"No connections now, try again\r\n"
AGAIN = b"Too many connections, try again\r\n"


def until(condition, seconds):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def all_that_comes(peer, seconds):
    """Every byte until the other side closes; None when it does not in time."""
    end, text = time.monotonic() + seconds, b""
    while True:
        peer.settimeout(max(end - time.monotonic(), 0.01))
        try:
            part = peer.recv(65536)
        except (ConnectionResetError, BrokenPipeError):
            return text
        except socket.timeout:
            return None
        if not part:
            return text
        text += part


def client_hello():
    """The first bytes of a TLS client."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = ssl.create_default_context().wrap_bio(incoming, outgoing, server_hostname="host.example")
    try:
        client.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


class Strangers(unittest.TestCase):
    CONFIG = {}
    DESCRIPTORS = None
    PROGRAMS = front_end.BIN

    def setUp(self):
        self.own = front_end.FrontEnd(descriptors=self.DESCRIPTORS, programs=self.PROGRAMS, **self.CONFIG)
        self.addCleanup(self.own.stop)

    def connect(self, source="127.0.0.1"):
        peer = socket.create_connection(("127.0.0.1", self.own.port), timeout=30, source_address=(source, 0))
        self.addCleanup(peer.close)
        return peer

    def greeted(self, source="127.0.0.1"):
        """A connection that has a session of its own, or None."""
        peer = self.connect(source)
        try:
            return peer if peer.recv(255).startswith(b"SSH-2.0-mayfly") else None
        except ConnectionResetError:
            return None

    def ssh(self, source="127.0.0.1", user="run", word="echo in"):
        return subprocess.run(["ssh", *OPTIONS, "-b", source, "-p", str(self.own.port), user + "@127.0.0.1", word],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)

    def logs_in(self, source="127.0.0.1"):
        return self.ssh(source).stdout == b"in\n"

    def logs_in_soon(self, source):
        """Of three tries: other programs use this machine too."""
        for _ in range(3):
            begin = time.monotonic()
            if self.logs_in(source) and time.monotonic() - begin < LOGIN_LIMIT:
                return True
        return False

    def established(self, source="127.0.0.1"):
        """A login whose program answers each line."""
        ssh = subprocess.Popen(["ssh", *OPTIONS, "-b", source, "-p", str(self.own.port), "run@127.0.0.1", "cat"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(ssh.communicate)
        self.addCleanup(ssh.kill)
        self.assertTrue(self.answers(ssh))
        return ssh

    def answers(self, ssh):
        os.write(ssh.stdin.fileno(), b"there?\n")
        return bool(select.select([ssh.stdout], [], [], 20)[0]) and os.read(ssh.stdout.fileno(), 100) == b"there?\n"

    def dropped(self, reason):
        """How many the log has told of."""
        total = 0
        for line in self.own.log_text().splitlines():
            if "sshd.dropped" in line:
                total += int(line.split(" %s=" % reason)[1].split()[0])
        return total


class Floods(Strangers):
    def test_64_connections_without_a_login_fill_their_source_and_nothing_else(self):  # B07, B09
        friend = self.established()
        half_open = [self.greeted() for _ in range(64)]
        self.assertNotIn(None, half_open)
        self.assertEqual(len(self.own.sessions()), 65)
        begin = time.monotonic()
        self.assertEqual(all_that_comes(self.connect(), 10), FULL)
        self.assertLess(time.monotonic() - begin, 1)
        self.assertTrue(self.logs_in_soon("127.0.0.2"))
        self.assertTrue(self.answers(friend))
        for peer in half_open:
            peer.close()
        self.assertTrue(until(lambda: len(self.own.sessions()) == 1, 20))
        self.assertTrue(self.logs_in_soon("127.0.0.1"))
        self.assertTrue(self.answers(friend))
        self.own.sshd.send_signal(signal.SIGTERM)
        self.assertEqual(self.own.sshd.wait(20), 0)
        self.assertRegex(self.own.log_text(), r"sshd\.summary accepted=\d+ admitted=\d+ dropped=1 .*too-many-from-source=1 ")

    def test_of_many_from_many_sources_a_part_is_dropped_and_who_tries_again_gets_in(self):  # B09
        friend = self.established()
        peers = [self.connect("127.0.1.%d" % (number % 8)) for number in range(160)]
        self.assertTrue(until(lambda: self.dropped("early-drop") > 0, 20))
        self.assertIn(AGAIN, [peer.recv(255) for peer in peers])
        self.assertEqual(self.dropped("too-many-from-source"), 0)
        self.assertGreaterEqual(len(self.own.sessions()), 100)
        self.assertTrue(any(self.logs_in("127.0.0.2") for _ in range(30)))
        self.assertTrue(self.answers(friend))
        for peer in peers:
            peer.close()

    def test_a_flood_is_told_in_few_lines_and_every_refusal_is_told(self):
        half_open = [self.greeted() for _ in range(64)]
        self.assertNotIn(None, half_open)
        for _ in range(200):
            self.connect().close()
        self.assertTrue(until(lambda: self.dropped("too-many-from-source") >= 150, 20))  # some have left before
        self.assertLess(self.own.log_text().count("sshd.dropped"), 20)

    def test_ends_of_peers_on_loopback_are_not_held_against_them(self):
        for _ in range(5):
            self.assertNotEqual(self.ssh(user="nobody").returncode, 0)
        self.assertTrue(self.logs_in())


# What AddressSanitizer says in a session that leaves by _exit(2); nothing else is taken out.
OF_A_SANITIZER = re.compile(r"==\d+==WARNING: ASan is ignoring requested |False positive error reports may follow$|For details see https")


class OtherProtocols(Strangers):
    def test_what_is_not_ssh_is_closed_within_a_second_with_one_line(self):  # B10, B38
        http = b"GET / HTTP/1.1\r\nHost: host.example\r\nUser-Agent: test\r\n\r\n"
        strange = {"tls": client_hello(), "http": http, "redis": b"PING\r\n", "ssh-1": b"SSH-1.5-old\r\n",
                   "control bytes": b"\x1b[31m\r\n", "a megabyte": b"SSH-2.0-" + b"x" * (1 << 20)}
        for name, text in strange.items():
            for when in ("at once", "after our banner"):
                with self.subTest(protocol=name, sent=when):
                    lines = self.own.log_text().count("\n")
                    peer = self.greeted() if when == "after our banner" else self.connect()
                    begin = time.monotonic()
                    try:
                        peer.sendall(text)
                    except OSError:
                        pass  # closed before all of it was sent
                    self.assertIsNotNone(all_that_comes(peer, 10))
                    self.assertLess(time.monotonic() - begin, 1)
                    self.assertTrue(until(lambda: not self.own.sessions(), 10))
                    said = [line for line in self.own.log_text().splitlines()[lines:] if not OF_A_SANITIZER.match(line)]
                    self.assertEqual(len(said), 1, said)
                    self.assertIn("sshd.closed", said[0])
                    self.assertTrue(said[0].isprintable(), said[0])
        self.assertTrue(self.logs_in())


class FewDescriptors(Strangers):
    DESCRIPTORS = 40

    def test_when_descriptors_run_out_the_listener_refuses_and_does_not_spin(self):  # B09
        friend = self.established()
        peers = [self.connect() for _ in range(60)]
        self.assertTrue(until(lambda: self.dropped("no-descriptors") > 0, 20))
        self.assertIn(AGAIN, [peer.recv(255) for peer in peers])
        before = self.processor_ticks()
        self.assertFalse(until(lambda: False, 2))  # two seconds in which nobody comes
        self.assertLess(self.processor_ticks() - before, os.sysconf("SC_CLK_TCK") / 4)
        self.assertTrue(self.answers(friend))
        for peer in peers:
            peer.close()
        self.assertTrue(until(lambda: len(self.own.sessions()) == 1, 20))
        self.assertTrue(self.logs_in_soon("127.0.0.1"))
        self.assertTrue(self.answers(friend))

    def processor_ticks(self):
        with open("/proc/%d/stat" % self.own.sshd.pid) as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return int(fields[11]) + int(fields[12])


class NoSessions(Strangers):
    CONFIG = {"madeAhead": False}  # a session that has been started already would serve

    def setUp(self):
        copies = tempfile.TemporaryDirectory(prefix="mayfly-test-")
        self.addCleanup(copies.cleanup)
        for name in ("mayfly-sshd", "mayfly-sshd-session"):
            shutil.copy(os.path.join(front_end.BIN, name), copies.name)
        self.PROGRAMS = copies.name
        super().setUp()

    def test_a_peer_for_whom_no_session_can_be_started_is_told_so(self):
        self.assertTrue(self.logs_in())
        os.remove(os.path.join(self.PROGRAMS, "mayfly-sshd-session"))
        self.assertEqual(all_that_comes(self.connect(), 5), NOT_NOW)
        self.assertTrue(until(lambda: self.dropped("session-not-started") == 1, 5))
        self.assertIn("sshd.program_replaced", self.own.log_text())


class Penalties(Strangers):
    CONFIG = {"penaliseLoopback": True}

    def is_penalised(self, source):
        peer = self.connect(source)
        said = all_that_comes(peer, 0.5)
        peer.close()
        return said == BUSY

    def test_failing_logins_shut_their_source_out_for_a_while_and_no_other(self):
        friend = self.established("127.0.0.7")
        for _ in range(3):
            self.assertFalse(self.is_penalised("127.0.0.3"))
            self.assertNotEqual(self.ssh("127.0.0.3", user="nobody").returncode, 0)
            self.assertTrue(until(lambda: len(self.own.sessions()) == 1, 20))
        self.assertTrue(self.is_penalised("127.0.0.3"))
        self.assertTrue(self.logs_in_soon("127.0.0.4"))
        self.assertTrue(self.answers(friend))
        self.assertTrue(until(lambda: not self.is_penalised("127.0.0.3"), 40))
        self.assertTrue(self.logs_in("127.0.0.3"))
        self.assertGreater(self.dropped("penalty"), 0)

    def test_while_somebody_of_a_source_is_in_others_there_may_mistype(self):
        friend = self.established("127.0.0.8")
        for _ in range(5):
            self.assertNotEqual(self.ssh("127.0.0.8", user="nobody").returncode, 0)
            self.assertTrue(until(lambda: len(self.own.sessions()) == 1, 20))
        self.assertFalse(self.is_penalised("127.0.0.8"))
        self.assertTrue(self.answers(friend))

    def test_a_peer_whose_session_crashes_is_shut_out_at_once(self):
        self.greeted("127.0.0.5")
        for pid in self.own.sessions():
            os.kill(pid, signal.SIGABRT)  # not SEGV, which a sanitizer makes an ordinary exit of
        self.assertTrue(until(lambda: not self.own.sessions(), 20))
        self.assertTrue(self.is_penalised("127.0.0.5"))
        self.assertTrue(self.logs_in_soon("127.0.0.6"))

    def test_logins_that_are_good_are_no_offence(self):
        for _ in range(20):
            self.assertTrue(self.logs_in("127.0.0.7"))
        self.assertFalse(self.is_penalised("127.0.0.7"))


if __name__ == "__main__":
    # The test holds more connections than the usual limit allows beside it.
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    unittest.main(verbosity=2)
