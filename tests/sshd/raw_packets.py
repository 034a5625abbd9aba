"""SSH packets as bytes, for tests (RFC 4253, 6): clear and under each cipher that is offered.

A test that sends what no client would send needs every byte in its own hands; a library gives it none of them.
"""
import hashlib
import hmac
import os
import struct

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.poly1305 import Poly1305

from raw_messages import number


def flipped(packet, bit):
    """The packet with one bit turned over; bit 0 is the highest of the first byte."""
    changed = bytearray(packet)
    changed[bit // 8] ^= 0x80 >> bit % 8
    return bytes(changed)


class Broken(Exception):
    """A packet came that its MAC does not fit."""


class Clear:
    """Before the first keys (RFC 4253, 6). The others differ in what they do with `inner`, all that follows the length."""
    block = 8
    tag = 0
    length_is_padded = True  # the length field counts towards the block

    def inner(self, payload, padding=None):
        filled = len(payload) + (5 if self.length_is_padded else 1)
        if padding is None:
            padding = self.block - filled % self.block
            padding += self.block if padding < 4 else 0
        return bytes([padding]) + payload + os.urandom(padding)

    def seal(self, sequence, inner, length=None):
        return number(len(inner) if length is None else length) + inner

    def length(self, sequence, four):
        return struct.unpack(">I", four)[0]

    def open(self, sequence, four, rest):
        return rest[1:len(rest) - rest[0]]


class Chacha(Clear):
    """chacha20-poly1305@openssh.com: two keys, the length has a stream of its own."""
    key, iv, tag = 64, 0, 16
    length_is_padded = False

    def __init__(self, key, iv, mac_key, mac):
        self.main, self.header = key[:32], key[32:]

    @staticmethod
    def stream(key, sequence, counter, data):
        nonce = struct.pack("<Q", counter) + struct.pack(">Q", sequence)
        return Cipher(algorithms.ChaCha20(key, nonce), None).encryptor().update(data)

    def seal(self, sequence, inner, length=None):
        four = self.stream(self.header, sequence, 0, number(len(inner) if length is None else length))
        sealed = four + self.stream(self.main, sequence, 1, inner)
        return sealed + Poly1305.generate_tag(self.stream(self.main, sequence, 0, bytes(32)), sealed)

    def length(self, sequence, four):
        return struct.unpack(">I", self.stream(self.header, sequence, 0, four))[0]

    def open(self, sequence, four, rest):
        try:
            Poly1305.verify_tag(self.stream(self.main, sequence, 0, bytes(32)), four + rest[:-16], rest[-16:])
        except InvalidSignature as error:
            raise Broken from error
        inner = self.stream(self.main, sequence, 1, rest[:-16])
        return inner[1:len(inner) - inner[0]]


class Counter(Clear):
    """aes*-ctr with an etm MAC: the length is clear, the MAC is over what is encrypted."""
    iv, block = 16, 16
    length_is_padded = False

    def __init__(self, key, iv, mac_key, mac):
        # In both directions CTR is the same.
        self.stream = Cipher(algorithms.AES(key), modes.CTR(iv)).encryptor()
        self.mac_key, self.hash = mac_key, mac
        self.tag = self.hash().digest_size

    def mac(self, sequence, data):
        return hmac.new(self.mac_key, number(sequence) + data, self.hash).digest()

    def seal(self, sequence, inner, length=None):
        sealed = number(len(inner) if length is None else length) + self.stream.update(inner)
        return sealed + self.mac(sequence, sealed)

    def open(self, sequence, four, rest):
        if not hmac.compare_digest(self.mac(sequence, four + rest[:-self.tag]), rest[-self.tag:]):
            raise Broken
        inner = self.stream.update(rest[:-self.tag])
        return inner[1:len(inner) - inner[0]]


CIPHERS = {"chacha20-poly1305@openssh.com": (Chacha, 64), "aes128-ctr": (Counter, 16), "aes192-ctr": (Counter, 24),
           "aes256-ctr": (Counter, 32)}
MACS = {"hmac-sha2-256-etm@openssh.com": hashlib.sha256, "hmac-sha2-512-etm@openssh.com": hashlib.sha512}
