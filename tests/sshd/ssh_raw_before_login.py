#!/usr/bin/env python3
"""Peers that keep no rules before login (P41, P42): hostile.md B01 to B06, B08, B11, B32, B36, B37 and B40, byte by byte."""
import os
import socket
import struct
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import client  # noqa: E402
import raw_ssh  # noqa: E402
from raw_case import RawCase, attempted  # noqa: E402
from raw_channel import Gone, Silence  # noqa: E402
from raw_messages import (AUTH_FAILURE, AUTH_REQUEST, AUTH_SUCCESS, DATA, DEBUG, DISCONNECT, IGNORE, KEX_INIT, KEXINIT, NEWKEYS,  # noqa: E402
                          OPEN, REQUEST, SERVICE_ACCEPT, SERVICE_REQUEST, UNIMPLEMENTED, login_request, number, open_request, text)

GRACE = 20
MOST_PACKET = 262_144  # libssh's MAX_PACKET_LEN
# RFC 4250, 4.1.2 and the GSSAPI messages that it filters: libssh ends the connection, where they are not due.
KNOWN = {DISCONNECT, SERVICE_REQUEST, SERVICE_ACCEPT, KEXINIT, NEWKEYS, 30, 31, *range(50, 54), 60, 61, 66, *range(80, 83),
         *range(90, 101)}
SILENT = {IGNORE, UNIMPLEMENTED, DEBUG}
EXT_INFO = 7
GSSAPI = (63, 64, 65)  # EXCHANGE_COMPLETE, ERROR, ERRTOK (RFC 4462, 6): no other method has them


def bodies(kind):
    """A message of this kind as a client would send it, and one that is cut short."""
    good = {AUTH_REQUEST: login_request("run"), OPEN: open_request(0), SERVICE_REQUEST: bytes([SERVICE_REQUEST]) + text("ssh-userauth"),
            REQUEST: bytes([REQUEST]) + number(0) + text("exec") + b"\1" + text("id"), DATA: bytes([DATA]) + number(0) + text("x")}
    return good.get(kind, bytes([kind]) + number(0) + text("x")), bytes([kind])


class OutOfTurn(RawCase):
    def setUp(self):
        super().setUp()
        self.asked_of_the_supervisor()

    def assert_not_understood(self, peer, kinds):
        for kind in kinds:
            sequence = peer.sent
            peer.send(bodies(kind)[0])
            self.assertEqual(peer.read_packet(), bytes([UNIMPLEMENTED]) + number(sequence), kind)

    def assert_each_ends(self, ready, kinds):
        for kind in kinds:
            for body in bodies(kind):
                with self.subTest(kind=kind, length=len(body)):
                    peer = ready()
                    peer.send(body)
                    self.assert_ends(peer)
                    peer.close()

    def test_no_message_does_anything_before_the_keys(self):  # B01, B02
        self.assert_each_ends(self.with_kexinit_heard, (KNOWN | {EXT_INFO}) - {KEXINIT})
        peer = self.with_kexinit_heard()
        self.assert_not_understood(peer, [kind for kind in range(256) if kind not in KNOWN | SILENT | {EXT_INFO}])
        self.assertEqual(self.asked_of_the_supervisor(), [])

    def with_kexinit_heard(self):
        peer = self.greeted()
        self.assertEqual(peer.read_packet()[0], KEXINIT)
        return peer

    def test_no_message_but_a_login_does_anything_after_the_keys(self):  # B01, B02
        self.assert_each_ends(self.with_keys, KNOWN - {SERVICE_REQUEST, AUTH_REQUEST, 53, 66})
        peer = self.with_keys()
        self.assert_not_understood(peer, [kind for kind in range(256) if kind not in KNOWN | SILENT | {EXT_INFO}])
        peer.close()
        peer = self.with_keys()
        peer.send(*(bodies(kind)[0] for kind in (IGNORE, UNIMPLEMENTED, EXT_INFO, 53)))  # said by anybody, and without effect
        peer.send(bodies(66)[0])
        self.assertEqual(peer.read()[0], AUTH_FAILURE)
        peer.log_in()
        self.assertEqual(self.asked_of_the_supervisor(), ["log-in"])

    def test_gssapi_messages_are_unrecognised_where_the_method_is_not_offered(self):  # B01, L42
        """RFC 4253, 11.4: who does not recognise a message MUST say UNIMPLEMENTED, and otherwise pass it over. 60 and 61
        are other methods' too, and end it; 66 is refused as a login is (the tests above)."""
        refused = self.with_keys()
        refused.ask_service()
        self.assertEqual(refused.ask_login("run", "gssapi-with-mic", number(1) + text(b"\6\1\0")), AUTH_FAILURE)
        self.asked_of_the_supervisor()
        for name, peer in {"before the keys": self.with_kexinit_heard(), "before a service": self.with_keys(), "refused": refused}.items():
            with self.subTest(name=name):
                self.assert_not_understood(peer, GSSAPI)
                self.assertEqual(self.asked_of_the_supervisor(), [])
        self.assertEqual(refused.ask_login("run"), AUTH_SUCCESS)  # what was passed over has changed nothing
        self.assert_not_understood(refused, GSSAPI)
        self.assert_alive(refused)
        self.assertEqual(self.asked_of_the_supervisor(), ["log-in"])

    def test_gssapi_messages_without_end_are_cut_as_all_packets_before_a_login(self):  # B04, L42
        peer = self.with_keys()
        attempted(peer.send, *[bytes([kind]) + text("x") for kind in GSSAPI] * 100)
        self.assertIn(self.assert_ends(peer), ("too many packets before login", None))
        self.assertTrue(client.until(lambda: "too many packets before login" in self.front_end.log_text(), 5))

    def test_a_whole_session_in_one_segment_without_a_login_starts_nothing(self):  # B02
        peer = self.with_keys()
        peer.send(open_request(0), *(bodies(kind)[0] for kind in (REQUEST, DATA)))
        self.assert_ends(peer)
        peer = self.with_keys()
        peer.ask_service()
        peer.send(login_request("nobody"), open_request(0), *(bodies(kind)[0] for kind in (REQUEST, DATA)))
        self.assert_ends(peer)
        self.assertEqual(self.asked_of_the_supervisor(), ["log-in"])

    def test_a_service_that_is_no_login_ends_it(self):
        for name in ("ssh-connection", "x" * 30000, ""):
            with self.subTest(name=name[:20]):
                peer = self.with_keys()
                peer.send(bytes([SERVICE_REQUEST]) + text(name))
                self.assert_ends(peer)
        self.assertEqual(self.asked_of_the_supervisor(), [])


class InTheExchange(RawCase):
    def test_more_packets_than_an_exchange_has_end_it(self):  # B06
        for name, noise in {"ignore": bytes([IGNORE]) + text("x"), "debug": bytes([DEBUG, 0]) + text("x") + text(""),
                            "unimplemented": bytes([UNIMPLEMENTED]) + number(0), "unknown": b"\xc0" + text("x")}.items():
            with self.subTest(noise=name, place="before KEXINIT"):
                peer = self.greeted()
                peer.send(noise)
                attempted(peer.exchange_keys)
                self.assertIn(self.assert_ends(peer), ("packets out of turn before the first keys", None))
            with self.subTest(noise=name, place="before NEWKEYS"):
                peer = self.greeted()
                attempted(peer.exchange_keys, None, None, [noise, noise])
                self.assertIn(self.assert_ends(peer), ("packets out of turn before the first keys", None))
        self.assertIn("packets out of turn before the first keys", self.front_end.log_text())

    def test_a_message_of_another_phase_ends_it(self):  # B06
        for kind in (AUTH_REQUEST, 52, OPEN, REQUEST, SERVICE_REQUEST, EXT_INFO, NEWKEYS, KEXINIT):
            with self.subTest(kind=kind):
                peer = self.greeted()
                peer.send(peer.offer.payload(), bodies(kind)[0])
                self.assert_ends(peer)

    def test_sequence_numbers_begin_anew_with_the_keys(self):  # B06
        peer = self.with_keys()
        self.assertTrue(peer.strict)
        peer.sent = 3
        self.assertIsNone(attempted(peer.ask_service))
        older = self.with_keys(raw_ssh.offering(kex=("curve25519-sha256",)))
        self.assertFalse(older.strict)
        older.log_in()

    def test_a_wrong_guess_of_the_method_is_passed_over(self):  # B14
        offer = raw_ssh.offering(kex=("no-such-method@example.org", *raw_ssh.Offer().kex), guessed=True)
        peer = self.greeted()
        peer.exchange_keys(offer)
        peer.log_in()

    def test_nonsense_in_place_of_a_secret_ends_it(self):
        for secret in (text(b""), text(bytes(32)), text(b"\xff" * 33), text(b"x" * 30000), number(0xffffffff) + b"x", b""):
            with self.subTest(length=len(secret)):
                peer = self.greeted()
                peer.send(peer.offer.payload(), bytes([KEX_INIT]) + secret)
                self.assert_ends(peer)

    def test_what_is_weak_or_compressed_only_finds_no_agreement(self):  # B37, B40
        weak = [{"kex": (name,)} for name in ("diffie-hellman-group1-sha1", "diffie-hellman-group14-sha1", "ecdh-sha2-nistp256",
                                              "diffie-hellman-group-exchange-sha1", "diffie-hellman-group-exchange-sha256")]
        weak += [{"host_keys": (name,)} for name in ("ssh-dss", "ssh-rsa", "rsa-sha2-256", "ecdsa-sha2-nistp256")]
        weak += [{"ciphers": (name,)} for name in ("none", "3des-cbc", "aes128-cbc", "arcfour", "aes128-gcm@openssh.com",
                                                   "aes256-gcm@openssh.com")]
        weak += [{"ciphers": ("aes128-ctr",), "macs": (name,)} for name in ("none", "hmac-md5", "hmac-sha1", "hmac-sha2-256",
                                                                           "hmac-sha1-etm@openssh.com", "umac-64@openssh.com")]
        weak += [{"compression": (name,)} for name in ("zlib", "zlib@openssh.com")]
        for lists in weak:
            with self.subTest(**lists):
                peer = self.greeted()
                peer.send(raw_ssh.offering(**lists).payload())
                self.assert_ends(peer)

    def test_lists_without_end_or_sense_end_it(self):
        for name, payload in {"cut": raw_ssh.Offer().payload()[:40], "empty": bytes([KEXINIT]) + bytes(16) + number(0) * 10 + bytes(5),
                              "long": raw_ssh.offering(kex=tuple("k%d" % i for i in range(30000))).payload(),
                              "commas": raw_ssh.offering(kex=("," * 30000,)).payload()}.items():
            with self.subTest(lists=name):
                peer = self.greeted()
                peer.send(payload)
                self.assert_ends(peer)


class Lengths(RawCase):
    def test_impossible_lengths_end_the_connection(self):  # B11
        for length in (0, 1, 5, 11, 13, MOST_PACKET + 1, 300_000, 1 << 20, (1 << 31) - 1, 1 << 31, (1 << 32) - 1):
            with self.subTest(length=length):
                peer = self.greeted()
                peer.send_raw(struct.pack(">IB", length, 4) + bytes(64))
                self.assert_ends(peer)
        for length in (35_004, MOST_PACKET - 4):  # these could be, and are waited for until the peer leaves
            with self.subTest(length=length):
                peer = self.greeted()
                peer.send_raw(struct.pack(">IB", length, 4) + bytes(64))
                self.assertEqual(peer.read_packet()[0], KEXINIT)
                self.assertFalse(peer.has_something(0.5))
                peer.socket.shutdown(socket.SHUT_WR)
                self.assert_ends(peer)

    def test_impossible_paddings_end_the_connection(self):  # B11
        for padding in (12, 13, 200, 255):
            with self.subTest(padding=padding):
                peer = self.greeted()
                peer.send_raw(struct.pack(">IB", 12, padding) + bytes([IGNORE]) + bytes(10))
                self.assert_ends(peer)


class SlowOnes(RawCase):
    def test_one_byte_a_second_is_cut_at_the_grace_time(self):  # B08
        """At all three stages at once: each begins with what a quick client has said already."""
        self.asked_of_the_supervisor()
        begin = time.monotonic()
        peers = {"banner": self.peer(), "keys": self.greeted(), "login": self.with_keys()}
        words = {"banner": b"SSH-2.0-" + b"x" * 100, "keys": peers["keys"].seal(peers["keys"].offer.payload()),
                 "login": peers["login"].seal(login_request("run"))}
        ended = {}
        for second in range(GRACE + 10):
            for name, peer in peers.items():
                if name not in ended and not self.takes(peer, words[name][second:second + 1]):
                    ended[name] = time.monotonic() - begin
            if len(ended) == len(peers):
                break
            time.sleep(1)  # time itself is what is tested
        self.assertEqual(sorted(ended), sorted(peers))
        for name, seconds in ended.items():
            self.assertLess(abs(seconds - GRACE), 5, name)
        self.assertEqual(self.asked_of_the_supervisor(), [])

    @staticmethod
    def takes(peer, byte):
        try:
            peer.send_raw(byte)
            peer.read_until_gone(0.01)
            return False
        except Gone:
            return False
        except Silence:
            return True


class Departures(RawCase):
    def test_whoever_leaves_at_any_state_is_gone_in_two_seconds(self):  # B32
        for name, ready in {"connected": self.peer, "greeted": self.greeted, "with keys": self.with_keys,
                            "with a service": self.with_service}.items():
            for way in ("RST", "FIN"):
                with self.subTest(state=name, way=way):
                    peer = ready()
                    if way == "RST":
                        peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    peer.close()
                    begin = time.monotonic()
                    self.assertTrue(client.until(lambda: not self.front_end.sessions(), 10))
                    self.assertLess(time.monotonic() - begin, 2)

    def with_service(self):
        peer = self.with_keys()
        peer.ask_service()
        return peer


if __name__ == "__main__":
    sys.exit(0 if client.run_tests() else 1)
