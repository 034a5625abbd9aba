#!/usr/bin/env python3
"""Peers that have logged in and keep no rules: hostile.md group B, by hand-made packets over python3-paramiko.

Against a running service: --port 2222
"""
import os
import queue
import re
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
try:
    import paramiko
    from paramiko.common import (MSG_CHANNEL_CLOSE, MSG_CHANNEL_DATA, MSG_CHANNEL_EOF, MSG_CHANNEL_REQUEST,
                                 MSG_CHANNEL_FAILURE, MSG_CHANNEL_SUCCESS, MSG_IGNORE, MSG_USERAUTH_FAILURE, cMSG_CHANNEL_CLOSE, cMSG_CHANNEL_DATA, cMSG_CHANNEL_EOF,
                                 cMSG_CHANNEL_REQUEST, cMSG_CHANNEL_WINDOW_ADJUST, cMSG_GLOBAL_REQUEST, cMSG_IGNORE)
except ImportError:
    print("mayfly-skip: python3-paramiko is not installed")
    sys.exit(77)
import client  # noqa: E402
from client import fake_only, ssh, until  # noqa: E402

READ = 30


class Peer(paramiko.Transport):
    """A transport that tells what kinds of messages came, and sends any."""

    def __init__(self):
        import socket
        super().__init__(socket.create_connection(("127.0.0.1", client.PORT)))
        self.kinds = []
        self.replies = queue.Queue()
        self.awaited = threading.Semaphore(0)
        real = self.packetizer.read_message

        def read_message():
            kind, message = real()
            if kind == MSG_CHANNEL_REQUEST:
                body = message.get_remainder()
                self.kinds.append("exit-status" if b"exit-status" in body else "exit-signal" if b"exit-signal" in body else "request")
            else:
                self.kinds.append(kind)
            if kind in (MSG_CHANNEL_SUCCESS, MSG_CHANNEL_FAILURE) and self.awaited.acquire(blocking=False):
                self.replies.put(kind)  # paramiko would close the channel at a failure
                return MSG_IGNORE, message
            return kind, message
        self.packetizer.read_message = read_message
        self.banner_timeout = self.handshake_timeout = self.auth_timeout = 60
        self.start_client(timeout=60)

    def say(self, *parts):
        message = paramiko.Message()
        for part in parts:
            if isinstance(part, bool):
                message.add_boolean(part)
            elif isinstance(part, int):
                message.add_int(part)
            elif isinstance(part, bytes) and len(part) == 1:
                message.add_byte(part)
            else:
                message.add_string(part)
        self._send_message(message)

    def request(self, channel, name, *rest):
        """True when it succeeded."""
        self.awaited.release()
        self.say(cMSG_CHANNEL_REQUEST, channel.remote_chanid, name, True, *rest)
        return self.replies.get(timeout=READ) == MSG_CHANNEL_SUCCESS


def logged_in(user="run"):
    peer = Peer()
    peer.auth_none(user)
    return peer


class Inside(unittest.TestCase):
    def setUp(self):
        self.peer = logged_in()
        self.addCleanup(self.peer.close)

    def open(self, **more):
        channel = self.peer.open_session(timeout=READ, **more)
        channel.settimeout(READ)
        return channel

    def read_all(self, channel):
        text = b""
        while True:
            part = channel.recv(65536)
            if not part:
                return text
            text += part

    def neighbour_is_served(self):
        return ssh("echo in").stdout == b"in\n"

    def test_the_end_comes_in_order_and_once(self):  # B34
        channel = self.open()
        channel.exec_command("echo hello")
        self.assertEqual(self.read_all(channel), b"hello\n")
        self.assertEqual(channel.recv_exit_status(), 0)
        self.assertTrue(until(lambda: MSG_CHANNEL_CLOSE in self.peer.kinds, 10))
        wanted = [MSG_CHANNEL_DATA, MSG_CHANNEL_EOF, "exit-status", MSG_CHANNEL_CLOSE]
        self.assertEqual([kind for kind in self.peer.kinds if kind in wanted], wanted)

    def test_a_command_with_a_nul_is_refused_and_not_cut(self):  # B27
        channel = self.open()
        self.assertFalse(self.peer.request(channel, "exec", b"echo half\0; echo whole"))

    def test_one_channel_has_one_program(self):  # B23
        channel = self.open()
        self.assertTrue(self.peer.request(channel, "exec", b"cat"))
        self.assertFalse(self.peer.request(channel, "exec", b"echo second"))
        self.assertFalse(self.peer.request(channel, "shell"))
        self.assertFalse(self.peer.request(channel, "pty-req", b"xterm", 80, 24, 0, 0, b""))
        channel.shutdown_write()
        self.assertEqual(self.read_all(channel), b"")

    def test_requests_that_are_not_served_fail_each_time(self):  # B26, B28, B29, B30
        channel = self.open()
        for _ in range(50):
            self.assertFalse(self.peer.request(channel, "env", b"LD_PRELOAD", b"/tmp/x.so"))
            self.assertFalse(self.peer.request(channel, "subsystem", b"sftp"))
            self.assertFalse(self.peer.request(channel, "auth-agent-req@openssh.com"))
            self.assertFalse(self.peer.request(channel, "x11-req", False, b"MIT-MAGIC-COOKIE-1", b"00", 0))
            self.assertFalse(self.peer.request(channel, "break", 100))
            self.assertFalse(self.peer.request(channel, "no-such-request@example.org"))
        channel.exec_command("env")
        self.assertNotIn(b"LD_PRELOAD", self.read_all(channel))

    def test_values_of_256_kb_leave_no_memory_behind(self):  # B26
        channel = self.open()
        for _ in range(20):
            self.assertFalse(self.peer.request(channel, "env", b"A" * 16, b"x" * 200000))
        channel.exec_command("echo in")
        self.assertEqual(self.read_all(channel), b"in\n")

    def test_global_requests_are_refused(self):  # B28, B31
        for name in ("tcpip-forward", "cancel-tcpip-forward", "streamlocal-forward@openssh.com", "no-such@example.org"):
            self.assertIsNone(self.peer.global_request(name, ("127.0.0.1", 0), wait=True), name)
        for _ in range(2000):
            self.peer.say(cMSG_GLOBAL_REQUEST, "flood@example.org", False)
        self.assertEqual(self.read_all_of("echo in"), b"in\n")

    def read_all_of(self, command):
        channel = self.open()
        channel.exec_command(command)
        return self.read_all(channel)

    def test_channels_other_than_sessions_are_refused(self):  # B28
        for kind in ("direct-tcpip", "x11", "forwarded-tcpip", "direct-streamlocal@openssh.com", "no-such"):
            with self.assertRaises(paramiko.ChannelException):
                if kind in ("direct-tcpip", "forwarded-tcpip"):
                    self.peer.open_channel(kind, ("127.0.0.1", 80), ("127.0.0.1", 1), timeout=READ)
                elif kind == "x11":
                    self.peer.open_channel(kind, None, ("127.0.0.1", 1), timeout=READ)
                else:
                    self.peer.open_channel(kind, timeout=READ)

    def test_ten_channels_and_no_more(self):  # B16
        channels = [self.open() for _ in range(10)]
        for _ in range(20):
            with self.assertRaises(paramiko.ChannelException):
                self.open()
        channels[0].close()
        self.assertTrue(until(lambda: self.opens(), 10))

    def opens(self):
        try:
            self.open().close()
            return True
        except paramiko.ChannelException:
            return False

    def test_two_hundred_channels_one_after_the_other(self):  # B16
        for _ in range(200):
            self.assertTrue(until(self.opens, 10))

    def test_a_storm_of_resizes_leaves_the_last_size(self):  # B25
        channel = self.open()
        channel.get_pty("xterm", 80, 24)
        channel.exec_command("read x; stty size")
        for size in range(5000):
            self.peer.say(cMSG_CHANNEL_REQUEST, channel.remote_chanid, "window-change", False, 10 + size % 900, 20, 0, 0)
        self.peer.say(cMSG_CHANNEL_REQUEST, channel.remote_chanid, "window-change", False, 123, 45, 0, 0)
        time.sleep(0.5)
        channel.sendall(b"\n")
        self.assertIn(b"45 123", self.read_all(channel))

    def test_absurd_terminals_are_clamped(self):  # B24
        channel = self.open()
        self.assertTrue(self.peer.request(channel, "pty-req", b"../../\x1b[31m", 0xffffffff, 0, 0, 0, b"\x80" * 100000))
        channel.exec_command("stty size; echo TERM=$TERM")
        text = self.read_all(channel)
        self.assertIn(b"24 1000", text)
        self.assertNotIn(b"..", text)

    def test_signals_reach_the_program_and_odd_ones_nobody(self):  # B30
        channel = self.open()
        channel.exec_command("trap 'echo got; exit 7' USR1; echo ready; while :; do sleep 0.1; done")
        self.assertEqual(channel.recv(100), b"ready\n")
        for name in (b"", b"STOP", b"SIGKILL", b"9", b"usr1", b"../KILL", b"A" * 100000):
            self.peer.say(cMSG_CHANNEL_REQUEST, channel.remote_chanid, "signal", False, name if len(name) != 1 else name + b" ")
        self.peer.say(cMSG_CHANNEL_REQUEST, channel.remote_chanid, "signal", False, b"USR1")
        self.assertEqual(self.read_all(channel), b"got\n")
        self.assertEqual(channel.recv_exit_status(), 7)

    def test_data_past_the_window_ends_the_connection(self):  # B21
        channel = self.open()
        channel.exec_command("sleep 30")
        try:
            for _ in range(400):
                self.peer.say(cMSG_CHANNEL_DATA, channel.remote_chanid, b"x" * 32000)
        except (OSError, EOFError, paramiko.SSHException):
            pass
        self.assertTrue(until(lambda: not self.peer.is_active(), READ))
        self.assertTrue(self.neighbour_is_served())

    def test_a_window_past_its_end_harms_nobody(self):  # B19
        channel = self.open()
        channel.exec_command("cat")
        try:
            for _ in range(3):
                self.peer.say(cMSG_CHANNEL_WINDOW_ADJUST, channel.remote_chanid, 0xffffffff)
        except (OSError, EOFError, paramiko.SSHException):
            pass  # it may end this connection at once
        time.sleep(0.5)
        self.assertTrue(self.neighbour_is_served())

    def test_a_window_of_nothing_stops_one_program_only(self):  # B17
        stuck = self.peer.open_session(window_size=32768, timeout=READ)
        stuck.exec_command("head -c 1000000 /dev/zero")
        time.sleep(0.5)
        self.assertEqual(self.read_all_of("echo in"), b"in\n")

    def test_words_to_channels_that_are_not_there_harm_nobody(self):  # B22
        channel = self.open()
        channel.exec_command("echo done")
        self.read_all(channel)
        for number in (channel.remote_chanid, 7, 99999, 0xffffffff):
            for kind in (cMSG_CHANNEL_EOF, cMSG_CHANNEL_CLOSE):
                self.peer.say(kind, number)
            self.peer.say(cMSG_CHANNEL_DATA, number, b"data")
            self.peer.say(cMSG_CHANNEL_REQUEST, number, "exec", True, b"echo x")
            self.peer.say(cMSG_CHANNEL_WINDOW_ADJUST, number, 1000)
        self.assertTrue(self.neighbour_is_served())

    def test_ignored_packets_do_not_count_as_a_command_cut_short(self):  # B27
        channel = self.open()
        for _ in range(50):
            self.peer.say(cMSG_IGNORE, b"noise")
        self.assertTrue(self.peer.request(channel, "exec", b"echo in"))
        self.assertEqual(self.read_all(channel), b"in\n")

    def test_new_keys_in_the_middle_lose_nothing(self):  # B15
        channel = self.open()
        channel.exec_command("cat")
        for number in range(3):
            channel.sendall(b"%d" % number)
            self.peer.renegotiate_keys()
        channel.shutdown_write()
        self.assertEqual(self.read_all(channel), b"012")


class AtTheDoor(unittest.TestCase):
    def test_any_password_will_do(self):
        peer = Peer()
        self.addCleanup(peer.close)
        peer.auth_password("run", "x" * 100000)
        channel = peer.open_session(timeout=READ)
        channel.exec_command("echo in")
        self.assertEqual(channel.recv(10), b"in\n")

    def test_a_sixth_refusal_is_the_last(self):  # B05
        peer = Peer()
        self.addCleanup(peer.close)
        for _ in range(10):
            try:
                peer.auth_password("nobody", "x")
            except (paramiko.SSHException, EOFError, OSError):
                pass
        self.assertEqual(peer.kinds.count(MSG_USERAUTH_FAILURE), 6)
        self.assertTrue(until(lambda: not peer.is_active(), 10))

    def test_nothing_starts_before_login(self):  # P41, B02
        peer = Peer()
        self.addCleanup(peer.close)
        with self.assertRaises((paramiko.SSHException, EOFError)):
            peer.open_session(timeout=READ)
        self.assertTrue(until(lambda: not peer.is_active(), 10))  # the grace time ends it at 20

    @fake_only
    def test_names_are_logged_escaped(self):  # B36
        peer = Peer()
        self.addCleanup(peer.close)
        for _ in range(7):
            try:
                peer.auth_password("a\nb\x1b[31m%n" + "x" * 60000, "x")
            except (paramiko.SSHException, EOFError, OSError):
                pass
        self.assertTrue(until(lambda: "user=a" in client.FRONT_END.log_text(), 10))
        line = re.search(r".*user=a.*", client.FRONT_END.log_text()).group(0)
        self.assertNotIn("\x1b", line)
        self.assertIn("a\\nb\\x1b", line)
        self.assertLess(len(line), 400)


if __name__ == "__main__":
    sys.exit(0 if client.run_tests() else 1)
