#!/usr/bin/env python3
"""Packets that were changed on the way, or that lie about themselves: hostile.md B11 and B12, for all that is offered.

With MAYFLY_LONG each bit of one packet is flipped, instead of one in each kind of place.
"""
import os
import socket
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import client  # noqa: E402
import raw_ssh  # noqa: E402
from raw_case import RawCase, attempted  # noqa: E402
from raw_messages import IGNORE, REQUEST, login_request, number, text  # noqa: E402
from raw_packets import CIPHERS, MACS, flipped  # noqa: E402

ALL_OFFERS = [raw_ssh.offering(ciphers=(cipher,), macs=(mac,)) for cipher in CIPHERS for mac in MACS
              if "chacha" not in cipher or mac == "hmac-sha2-256-etm@openssh.com"]  # chacha20-poly1305 has no other MAC
# One of each kind: what decides on lengths and order is the same code for all of a kind.
ONE_OF_EACH = ALL_OFFERS if "MAYFLY_LONG" in os.environ else ALL_OFFERS[:2]
COMMAND = "echo changed on the way"


def name_of(offer):
    return offer.ciphers[0] + " " + offer.macs[0]


class Ciphers(RawCase):
    def ready(self, offer):
        """A peer with a channel, and the request that would run a program on it."""
        peer = self.inside(offer)
        channel = peer.open_channel()
        self.asked_of_the_supervisor()
        return peer, bytes([REQUEST]) + number(channel.theirs) + text("exec") + b"\1" + text(COMMAND)

    def places(self, peer, request):
        """Bits of the sealed request, by what they are in."""
        sealed, tag = len(peer.sending.inner(request)) + 4 + peer.sending.tag, peer.sending.tag
        return {"length, highest": 0, "length, 64 KiB": 15, "length, 4 KiB": 19, "length, lowest": 31, "padding length, highest": 32,
                "padding length, lowest": 39, "kind": 47, "channel": 79, "command": (5 + len(request) - 3) * 8,
                "padding": (sealed - tag - 1) * 8 + 3, "tag, first": (sealed - tag) * 8, "tag, last": sealed * 8 - 1}

    def assert_refused(self, peer, sealed):
        attempted(peer.send_raw, sealed)
        attempted(peer.send_raw, bytes(300_000))  # what it may think that it lacks
        self.assert_ends(peer)
        peer.close()
        self.assertEqual(self.asked_of_the_supervisor(), [])

    def test_the_packet_runs_the_program_as_long_as_nobody_changes_it(self):
        for offer in ALL_OFFERS:
            with self.subTest(offer=name_of(offer)):
                peer, request = self.ready(offer)
                peer.send_raw(peer.seal(request))
                self.assertEqual(peer.channels[0].answer(), 99)
                self.assertEqual(peer.channels[0].to_the_end().out, b"changed on the way\n")
                self.assertEqual(self.asked_of_the_supervisor(), ["open"])

    def test_a_flipped_bit_ends_the_connection_before_the_payload_is_used(self):  # B12
        for offer in ALL_OFFERS:
            places = self.places(*self.ready(offer))
            if "MAYFLY_LONG" in os.environ:
                places |= {"bit %d" % bit: bit for bit in range(max(places.values()) + 1)}
            for place, bit in places.items():
                with self.subTest(offer=name_of(offer), place=place):
                    peer, request = self.ready(offer)
                    self.assert_refused(peer, flipped(peer.seal(request), bit))

    def test_a_flipped_bit_of_a_login_asks_the_supervisor_nothing(self):  # B12
        for offer in ALL_OFFERS:
            for bit in (47, 100, -1):
                with self.subTest(offer=name_of(offer), bit=bit):
                    peer = self.with_keys(offer)
                    peer.ask_service()
                    self.asked_of_the_supervisor()
                    sealed = peer.seal(login_request("run"))
                    self.assert_refused(peer, flipped(sealed, bit % (len(sealed) * 8)))

    def test_a_packet_said_twice_left_out_or_cut_ends_it(self):  # B12
        for offer in ONE_OF_EACH:
            for name in ("twice", "left out", "in another order", "without its tag", "under older keys"):
                with self.subTest(offer=name_of(offer), packet=name):
                    peer, request = self.ready(offer)
                    noise = bytes([IGNORE]) + text("x")
                    older = peer.seal(noise)
                    if name == "twice":
                        peer.send_raw(older)
                        sent = older + peer.seal(request)
                    elif name == "in another order":
                        sent = peer.seal(request) + older
                    elif name == "under older keys":
                        peer.send_raw(older)
                        stale, sequence = peer.sending, peer.sent
                        peer.exchange_keys()
                        sent = stale.seal(sequence, stale.inner(request))
                    else:
                        sent = peer.seal(request)[:-peer.sending.tag if name == "without its tag" else None]
                    self.assert_refused(peer, sent)

    def test_sealed_packets_that_lie_about_their_length_end_it(self):  # B11
        for offer in ONE_OF_EACH:
            for length in (0, 1, 5, 8, 16, 300_000, 1 << 31, (1 << 32) - 1):
                with self.subTest(offer=name_of(offer), length=length):
                    peer, request = self.ready(offer)
                    self.assert_refused(peer, peer.seal_inner(peer.sending.inner(request), length))

    def test_sealed_packets_that_lie_about_their_padding_end_it(self):  # B11
        for offer in ONE_OF_EACH:
            for padding in ("all but the kind", "all", "one more", "most"):
                with self.subTest(offer=name_of(offer), padding=padding):
                    peer, request = self.ready(offer)
                    inner = bytes(len(peer.sending.inner(request)))
                    count = {"all but the kind": len(inner) - 1, "all": len(inner), "one more": len(inner) + 1, "most": 255}[padding]
                    self.assert_refused(peer, peer.seal_inner(bytes([count]) + inner[1:]))

    def test_the_largest_padding_is_as_good_as_any(self):
        for offer in ONE_OF_EACH:
            with self.subTest(offer=name_of(offer)):
                peer, _ = self.ready(offer)
                payload = bytes([IGNORE]) + text(b"x" * (11 if peer.sending.block == 16 else 3))
                block = peer.sending.block
                most = 255 - (256 + len(payload)) % block
                peer.send_raw(peer.seal(payload, most))
                self.assert_alive(peer)

    def test_a_packet_of_which_half_comes_and_no_more_keeps_nobody_waiting(self):  # B11, B32
        for offer in ONE_OF_EACH:
            peer, request = self.ready(offer)
            peer.send_raw(peer.seal(request)[:10])
            peer.socket.shutdown(socket.SHUT_WR)
            self.assert_ends(peer)


if __name__ == "__main__":
    sys.exit(0 if client.run_tests() else 1)
