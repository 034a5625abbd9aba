#!/usr/bin/env python3
"""Peers that keep no rules, before login (P42): hostile.md group B as far as it needs no cipher. Every message
number, and what needs ciphers: ssh_raw_*.py.

Each test has a neighbour that logs in meanwhile and must not notice. Against a running service: --port 2222
"""
import os
import socket
import struct
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import client  # noqa: E402
import front_end  # noqa: E402

LOGIN_LIMIT = 8.0  # of a neighbour's whole login, on a machine that is busy with other tests
AT_ONCE = 10  # seconds; by itself every connection without a login ends at 20
SSH = ["ssh", "-F", "none", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR",
       "-o", "IdentityFile=none"]


def connect():
    return socket.create_connection(("127.0.0.1", client.PORT), timeout=30)


def packet(payload, padding=None):
    """An SSH packet before the first key exchange: no cipher, no MAC."""
    if padding is None:
        padding = 8 - (len(payload) + 5) % 8
        padding += 8 if padding < 4 else 0
    return struct.pack(">IB", len(payload) + padding + 1, padding) + payload + bytes(padding)


def text(value):
    return struct.pack(">I", len(value)) + value


def is_closed_within(peer, seconds):
    peer.settimeout(seconds)
    try:
        while peer.recv(65536):
            pass
    except ConnectionResetError:
        pass
    except socket.timeout:
        return False
    return True


def neighbour_logs_in():
    begin = time.monotonic()
    done = subprocess.run(SSH + ["-p", str(client.PORT), "run@127.0.0.1", "echo in"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, timeout=60)
    return done.stdout == b"in\n" and time.monotonic() - begin < LOGIN_LIMIT


class BeforeLogin(unittest.TestCase):
    def hello(self):
        peer = connect()
        self.addCleanup(peer.close)
        peer.sendall(b"SSH-2.0-test\r\n")
        banner = peer.recv(255)
        self.assertTrue(banner.startswith(b"SSH-2.0-mayfly"), banner)
        return peer

    def test_messages_out_of_turn_end_the_connection(self):  # B01, B02
        out_of_turn = {"userauth-success": b"\x34", "userauth-request": b"\x32" + text(b"run") + text(b"ssh-connection") + text(b"none"),
                       "channel-open": b"\x5a" + text(b"session") + struct.pack(">III", 0, 1 << 20, 32768),
                       "channel-data": b"\x5e" + struct.pack(">I", 0) + text(b"x"),
                       "channel-request": b"\x62" + struct.pack(">I", 0) + text(b"exec") + b"\x01" + text(b"id"),
                       "gssapi-token": b"\x3d" + text(b"x"), "newkeys": b"\x15"}
        for name, payload in out_of_turn.items():
            with self.subTest(message=name):
                peer = self.hello()
                peer.sendall(packet(payload))
                self.assertTrue(is_closed_within(peer, AT_ONCE))
        self.assertTrue(neighbour_logs_in())

    def test_impossible_packet_lengths_end_the_connection(self):  # B11
        for length in (0, 1, 5, 300_001, 1 << 20, 1 << 31, (1 << 32) - 1):
            with self.subTest(length=length):
                peer = self.hello()
                peer.sendall(struct.pack(">IB", length, 4) + bytes(64))
                self.assertTrue(is_closed_within(peer, AT_ONCE))
        peer = self.hello()
        peer.sendall(struct.pack(">IB", 12, 200) + bytes(64))  # padding longer than the packet
        self.assertTrue(is_closed_within(peer, AT_ONCE))
        self.assertTrue(neighbour_logs_in())

    def test_a_hundred_thousand_tiny_packets_cost_one_connection(self):  # B13
        peer = self.hello()
        try:
            for _ in range(100):
                peer.sendall(packet(b"\x02" + text(b"")) * 1000)
        except OSError:
            pass
        self.assertTrue(is_closed_within(peer, AT_ONCE))
        self.assertTrue(neighbour_logs_in())

    def test_silent_connections_leave_room_for_others(self):  # B09
        silent = [connect() for _ in range(60)]
        try:
            self.assertTrue(neighbour_logs_in())
        finally:
            for peer in silent:
                peer.close()

    @unittest.skipIf("--port" in sys.argv, "counts the processes of a listener of its own")
    def test_one_source_gets_64_places_before_login_and_no_more(self):
        own = front_end.FrontEnd()
        peers = []
        try:
            for _ in range(96):
                peers.append(socket.create_connection(("127.0.0.1", own.port)))
            end = time.monotonic() + 30
            while len(own.sessions()) < 64 and time.monotonic() < end:
                time.sleep(0.1)
            time.sleep(0.5)
            self.assertEqual(len(own.sessions()), 64)
            self.assertIn("sshd.dropped", own.log_text())
            self.assertLess(own.log_text().count("sshd.dropped"), 10)
        finally:
            for peer in peers:
                peer.close()
            own.stop()

    @unittest.skipIf("--port" in sys.argv, "looks at a listener of its own")
    def test_connections_and_logins_leave_nothing_behind(self):
        for _ in range(20):
            self.assertTrue(neighbour_logs_in())
            connect().close()
        # The last connection may be accepted only now: looked at once, and not a second time after it was found empty.
        self.assertTrue(client.until(lambda: not client.FRONT_END.sessions(), 10), client.FRONT_END.sessions())
        self.assertLess(len(os.listdir("/proc/%d/fd" % client.FRONT_END.sshd.pid)), 20)


if __name__ == "__main__":
    sys.exit(0 if client.run_tests() else 1)
