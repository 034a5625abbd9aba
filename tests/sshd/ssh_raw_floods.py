#!/usr/bin/env python3
"""Floods of peers that have logged in: hostile.md B13, B25, B26 and B28 to B31, each in as few segments as the kernel makes of it.

The shape is always the same: everything at once, then the connection works as before, and the session has grown by little.
"""
import os
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import client  # noqa: E402
import raw_ssh  # noqa: E402
from raw_case import RawCase  # noqa: E402
from raw_messages import (ADJUST, DEBUG, FAILURE, GLOBAL_FAILURE, GLOBAL_REQUEST, IGNORE, OPEN, OPEN_FAILURE, REQUEST, UNIMPLEMENTED,  # noqa: E402
                          number, text)

PING = 192
FORWARDS = ("tcpip-forward", "cancel-tcpip-forward", "streamlocal-forward@openssh.com", "cancel-streamlocal-forward@openssh.com")
OTHER_CHANNELS = ("direct-tcpip", "forwarded-tcpip", "x11", "auth-agent@openssh.com", "direct-streamlocal@openssh.com",
                  "forwarded-streamlocal@openssh.com", "tun@openssh.com", "no-such", "")
HOST_AND_PORT = text("127.0.0.1") + number(1)
NO_SIGNALS = (b"", b"STOP", b"SIGKILL", b"9", b"usr1", b"../KILL", b"A" * 100_000, b"KILL\0", b"-1", b"RTMIN")


class Floods(RawCase):
    def setUp(self):
        super().setUp()
        self.asked_of_the_supervisor()
        self.own = self.inside(raw_ssh.offering(ciphers=("aes128-ctr",)))  # quicker to make here
        self.assertTrue(self.echoes(self.running("cat")))
        self.before = self.memory()

    def running(self, command):
        channel = self.own.open_channel()
        self.assertTrue(channel.run(command))
        return channel

    def assert_as_before(self):
        self.assert_alive(self.own)
        self.assertTrue(self.echoes(self.running("cat")))
        self.assert_grew_little(self.before)

    def ask_all(self, payloads, answer):
        """Sends all of them, and reads as many answers of this kind."""
        self.own.send(*payloads)
        for _ in payloads:
            kind = ADJUST
            while kind == ADJUST:
                kind = self.own.read()[0]
            self.assertEqual(kind, answer)

    def global_request(self, name, rest=b"", wants_answer=True):
        return bytes([GLOBAL_REQUEST]) + text(name) + bytes([wants_answer]) + rest

    def on_channel(self, channel, name, rest=b"", wants_answer=True):
        return bytes([REQUEST]) + number(channel.theirs) + text(name) + bytes([wants_answer]) + rest

    def test_a_hundred_thousand_tiny_packets(self):  # B13
        self.own.send(*[bytes([IGNORE]) + text(b""), bytes([DEBUG, 0]) + text(b"") * 2, bytes([UNIMPLEMENTED]) + number(0),
                        bytes([IGNORE])] * 25_000)
        self.assertTrue(self.is_served_in_time())
        self.assert_as_before()

    def test_pings_are_not_understood_each_time(self):  # B13
        self.ask_all([bytes([PING]) + text("x")] * 10_000, UNIMPLEMENTED)
        self.assert_as_before()

    def test_a_hundred_thousand_resizes_cost_few_and_the_last_counts(self):  # B25
        channel = self.own.open_channel()
        self.assertTrue(channel.request("pty-req", text("xterm") + struct.pack(">IIII", 80, 24, 0, 0) + text("")))
        self.assertTrue(channel.run("stty -echo; echo up; read x; stty size"))
        self.assertIn(b"up", channel.read())
        self.own.send(*[self.on_channel(channel, "window-change", struct.pack(">IIII", 10 + i % 900, 20, 0, 0), False)
                        for i in range(100_000)])
        self.own.send(self.on_channel(channel, "window-change", struct.pack(">IIII", 123, 45, 0, 0), False))
        self.assert_alive(self.own)
        channel.send(b"\n")
        self.assertIn(b"45 123", channel.to_the_end().out)
        self.assertLess(self.asked_of_the_supervisor().count("resize"), 10_000)
        self.assert_as_before()

    def test_a_hundred_thousand_variables_reach_no_program(self):  # B26
        channel = self.own.open_channel()
        self.own.send(*[self.on_channel(channel, "env", text("V%d" % i) + text("secret"), False) for i in range(100_000)])
        self.ask_all([self.on_channel(channel, "env", text("LD_PRELOAD") + text("/tmp/x.so"))] * 1000, FAILURE)
        self.ask_all([self.on_channel(channel, "env", text("V") + text(b"secret" * 40_000))] * 20, FAILURE)
        self.ask_all([self.on_channel(channel, "env", text("V\0W") + text(b"\0secret"))], FAILURE)
        self.assertTrue(channel.run("env"))
        text_of_it = channel.to_the_end().out
        self.assertTrue(b"HOME" in text_of_it and b"secret" not in text_of_it and b"LD_PRELOAD" not in text_of_it)
        self.assert_as_before()

    def test_every_kind_of_channel_but_a_session_is_refused_each_time(self):  # B28
        for kind in OTHER_CHANNELS:
            for rest in (HOST_AND_PORT * 2, b"", text("x" * 10_000)):
                with self.subTest(kind=kind, length=len(rest)):
                    opens = [bytes([OPEN]) + text(kind) + number(i) + number(1 << 20) + number(32768) + rest for i in range(100, 200)]
                    if kind in ("direct-tcpip", "forwarded-tcpip", "x11") and rest != HOST_AND_PORT * 2:
                        self.own.send(*opens)  # cut short: libssh says nothing to it
                    else:
                        self.ask_all(opens, OPEN_FAILURE)
        self.assertTrue(client.until(lambda: self.is_served_in_time(), 5))
        self.assert_as_before()

    def test_forwards_are_refused_each_time(self):  # B28
        for name in FORWARDS:
            for rest in (HOST_AND_PORT, text("") + number(0), text("/tmp/x")):
                with self.subTest(name=name, rest=rest):
                    self.own.send(*[self.global_request(name, rest)] * 300)
                    answers = self.answers_until_alive()
                    self.assertLessEqual(set(answers), {GLOBAL_FAILURE})
        self.assert_as_before()

    def answers_until_alive(self):
        """Kinds of everything that is said before the answer to a request of ours that is not served either."""
        self.own.send(bytes([PING]))
        kinds = [self.own.read()[0]]
        while kinds[-1] != UNIMPLEMENTED:
            kinds.append(self.own.read()[0])
        return kinds[:-1]

    def test_what_else_a_channel_could_have_is_refused_each_time(self):  # B28, B29, B30
        channel = self.own.open_channel()
        for name, rest in {"x11-req": b"\0" + text("MIT-MAGIC-COOKIE-1") + text("00") + number(0), "break": number(100),
                           "auth-agent-req@openssh.com": b"", "no-such@example.org": b"", "": b"", "x" * 100_000: b"",
                           "eow@openssh.com": b""}.items():
            with self.subTest(name=name[:30]):
                self.ask_all([self.on_channel(channel, name, rest)] * 300, FAILURE)
        for name in ("sftp", "scp", "netconf", "../../bin/sh", "", "sftp\0", "x" * 100_000):
            with self.subTest(subsystem=name[:30]):
                self.ask_all([self.on_channel(channel, "subsystem", text(name))] * 10, FAILURE)
        self.assertEqual(self.asked_of_the_supervisor().count("open"), 1)  # that of setUp
        self.assert_as_before()

    def test_signals_before_a_start_odd_ones_and_floods_of_them(self):  # B30
        channel = self.own.open_channel()
        self.own.send(*[self.on_channel(channel, "signal", text("TERM"), False)] * 1000)
        self.assert_alive(self.own)
        self.assertNotIn("signal", self.asked_of_the_supervisor())
        idle = self.own.open_channel()
        self.assertTrue(idle.run("trap 'echo got' USR1; echo ready; read x; exit 7"))
        self.assertIn(b"ready", idle.read())
        odd = [self.on_channel(idle, "signal", text(name), False) for name in NO_SIGNALS if name != b"KILL\0"]
        self.own.send(*odd * 20, *[self.on_channel(idle, "signal", text("USR1"), False)] * 10_000)
        self.assertIn(b"got", idle.read())
        idle.send(b"\n")
        idle.to_the_end()
        self.assertLess(self.asked_of_the_supervisor().count("signal"), 2_000)
        self.assert_as_before()

    def test_a_hundred_thousand_requests_about_nothing(self):  # B31
        self.own.send(*[self.global_request("flood@example.org", wants_answer=False)] * 90_000)
        self.assertTrue(self.is_served_in_time())
        for name in ("flood@example.org", "hostkeys-prove-00@openssh.com", "hostkeys-00@openssh.com", "x" * 10_000, ""):
            with self.subTest(name=name[:30]):
                self.ask_all([self.global_request(name, text("ssh-ed25519"))] * 1000, GLOBAL_FAILURE)
        self.assert_as_before()


if __name__ == "__main__":
    sys.exit(0 if client.run_tests() else 1)
