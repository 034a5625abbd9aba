#!/usr/bin/env python3
"""Keys that are exchanged anew, in the middle of bytes and for nothing: hostile.md B14 and B15.

With MAYFLY_LONG a gigabyte runs both ways, and a peer that stops in the middle of an exchange is waited for.
"""
import hashlib
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import client  # noqa: E402
import raw_ssh  # noqa: E402
from client import ssh  # noqa: E402
from raw_case import RawCase, attempted  # noqa: E402
from raw_channel import Gone  # noqa: E402
from raw_messages import ADJUST, DATA, EOF, KEX_INIT, KEXINIT, text  # noqa: E402
from raw_packets import CIPHERS, MACS  # noqa: E402

LONG = "MAYFLY_LONG" in os.environ
MIB = 1 << 20
BULK = (1024 if LONG else 32) * MIB  # each way
AES = raw_ssh.offering(ciphers=("aes128-ctr",))
WRONG_GUESS = raw_ssh.offering(kex=("no-such-method@example.org", "curve25519-sha256"), guessed=True)
TOO_MANY = "too many key exchanges"


class Echo:
    """`cat` at the other side: what is sent, what comes back, and new keys after each MiB that was sent."""

    def __init__(self, peer):
        self.peer, self.channel = peer, peer.open_channel()
        assert self.channel.run("cat")
        self.sent, self.came = hashlib.sha256(), hashlib.sha256()
        self.count = 0
        self.block = os.urandom(MIB)

    def run(self, count):
        for number in range(count // MIB):
            block = number.to_bytes(8, "big") + self.block[8:]
            self.sent.update(block)
            for begin in range(0, MIB, 32768):
                self.send(block[begin:begin + 32768])
            self.peer.exchange_keys()
        self.channel.end_input()
        while self.count < count:
            self.hear()
        return self.sent.digest() == self.came.digest() and self.count == count

    def send(self, part):
        while part:
            while self.channel.room == 0 or self.peer.has_something():
                self.hear()
            now = part[:self.channel.room]
            self.channel.say(DATA, text(now))
            self.channel.room -= len(now)
            part = part[len(now):]

    def hear(self):
        payload = self.channel.read()
        if payload[0] == DATA:
            self.came.update(payload[9:])
            self.count += len(payload) - 9
            self.channel.window -= len(payload) - 9
            if self.channel.window < MIB:
                self.channel.adjust(2 * MIB)
        assert payload[0] in (DATA, ADJUST, EOF), payload[:20]


class InTheMiddle(RawCase):
    def test_bytes_both_ways_are_exact_with_new_keys_each_mib(self):  # B15
        peer = self.inside(AES)
        echo = Echo(peer)
        self.assertTrue(echo.run(BULK))
        self.assertGreater(peer.exchanges, BULK // MIB)
        self.assertEqual(echo.channel.to_the_end().order[-2:], ["exit-status", 97])

    def test_the_same_with_the_stock_client(self):  # B15
        data = os.urandom(MIB) * (BULK // MIB)
        done = ssh("cat", input=data, options=["-v", "-o", "LogLevel=DEBUG1", "-o", "RekeyLimit=1M"], timeout=1200)
        self.assertEqual(done.returncode, 0)
        self.assertTrue(done.stdout == data)
        self.assertGreater(done.stderr.count(b"SSH2_MSG_NEWKEYS received"), BULK // MIB // 2)

    def test_every_cipher_may_follow_on_every_other(self):  # B15
        peer = self.inside()
        for cipher in [*CIPHERS, *reversed(CIPHERS)]:
            for mac in MACS:
                peer.exchange_keys(raw_ssh.offering(ciphers=(cipher,), macs=(mac,)))
                self.assert_alive(peer)
        channel = peer.open_channel()
        self.assertTrue(channel.run("cat") and self.echoes(channel))

    def test_new_keys_have_to_be_as_good_as_the_first(self):  # B15, B40
        for lists in ({"ciphers": ("none",)}, {"macs": ("none",), "ciphers": ("aes128-ctr",)}, {"kex": ("diffie-hellman-group1-sha1",)},
                      {"compression": ("zlib",)}, {"host_keys": ("ssh-dss",)}):
            with self.subTest(**lists):
                peer = self.inside()
                peer.send(raw_ssh.offering(**lists).payload())
                self.assert_ends(peer)

    def test_half_an_exchange_over_and_over_ends_it(self):  # B14
        for name, payloads in {"KEXINIT twice": [AES.payload(), AES.payload()], "a secret for nothing": [bytes([KEX_INIT]) + text(bytes(32))],
                               "no secret": [AES.payload(), bytes([KEX_INIT]) + text(bytes(32))],
                               "new keys for nothing": [b"\x15"], "cut": [AES.payload()[:30]]}.items():
            with self.subTest(name=name):
                peer = self.inside()
                peer.send(*payloads)
                self.assert_ends(peer)

    def test_data_between_the_halves_of_an_exchange_is_whole_or_the_end(self):
        """RFC 4253, 7.1 forbids it to the peer. What must not be is a session that goes on without a part of its input."""
        for between in (False, True):
            with self.subTest(between=between):
                peer = self.inside(AES)
                channel = peer.open_channel()
                self.assertTrue(channel.run("cat"))
                word = bytes([DATA]) + raw_ssh.number(channel.theirs) + text("between")
                try:
                    peer.exchange_keys(before_new_keys=[word] if between else [])
                    peer.send(*([] if between else [word]))
                    channel.end_input()
                    self.assertEqual(channel.to_the_end().out, b"between")
                except Gone:
                    self.assertTrue(between)
                peer.close()
                self.assertTrue(client.until(lambda: not self.front_end.sessions(), 10))


class ForNothing(RawCase):
    def exchanges_until_the_end(self, offer):
        peer = self.inside(AES)
        try:
            while peer.exchanges < 200:
                peer.exchange_keys(offer)
        except Gone as gone:
            return peer.exchanges, gone.reason or attempted(self.assert_ends, peer)
        return peer.exchanges, None

    def test_new_keys_over_and_over_end_the_connection(self):  # B14
        for offer in (AES, WRONG_GUESS):
            with self.subTest(guessed=offer.guessed):
                begin = time.monotonic()
                exchanges, reason = self.exchanges_until_the_end(offer)
                self.assertGreaterEqual(exchanges, 32)
                self.assertLessEqual(exchanges, 34 + (time.monotonic() - begin))
                self.assertIn(reason, (TOO_MANY, None))
                self.assertIn(TOO_MANY, self.front_end.log_text())

    def test_new_keys_that_are_needed_leave_no_memory_behind(self):  # B14
        for offer in (AES, WRONG_GUESS):  # libssh has lost some for each wrong guess (CVE-2025-8277)
            with self.subTest(guessed=offer.guessed):
                peer = self.inside(AES)
                self.exchange_with_bytes_between(peer, offer, 20)
                before = self.memory()
                self.exchange_with_bytes_between(peer, offer, 150)
                self.assert_grew_little(before, 512)
                peer.close()
                self.assertTrue(client.until(lambda: not self.front_end.sessions(), 10))

    @staticmethod
    def exchange_with_bytes_between(peer, offer, times):
        for _ in range(times):
            peer.send(bytes([2]) + text(bytes(140_000)))
            peer.exchange_keys(offer)

    def test_whoever_stops_in_the_middle_is_given_up_as_any_silent_peer(self):  # B14, B32
        if not LONG:
            self.skipTest("45 seconds of silence: MAYFLY_LONG")
        peer = self.inside()
        self.assertTrue(peer.open_channel().run("cat /dev/zero"))
        peer.send(peer.offer.payload())
        peer.read_of_kind(KEXINIT)
        begin = time.monotonic()
        self.assertTrue(client.until(lambda: not self.front_end.sessions(), 70))
        self.assertGreater(time.monotonic() - begin, 40)


if __name__ == "__main__":
    sys.exit(0 if client.run_tests() else 1)
