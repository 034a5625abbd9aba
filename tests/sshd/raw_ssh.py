"""An SSH client of our own for tests, with every byte in the test's hands: what a hostile one would be built with.

    peer = RawPeer(port)                 # connected; nothing is said yet
    peer.greet(); peer.exchange_keys()   # or what a test would rather send
    peer.log_in("run")
    channel = peer.open_channel()
    channel.run("cat"); channel.send(b"x"); channel.end_input()
    channel.to_the_end()                 # Told(out=b"x", err=b"", order=[DATA, EOF, "exit-status", CLOSE])

`send` seals a payload, `send_raw` sends bytes, `seal` gives the bytes that `send` would have sent. Nothing is read behind
a test's back, except that a peer which wants new keys gets them.
"""
import hashlib
import os
import select
import socket
import time
from collections import deque
from dataclasses import dataclass, replace

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

from raw_channel import PATIENCE, Channel, Gone, Silence
from raw_messages import (AUTH_SUCCESS, DISCONNECT, KEX_INIT, KEX_REPLY, KEXINIT, NEWKEYS, OPENED, SERVICE_ACCEPT, SERVICE_REQUEST,
                          Reader, big, login_request, names, number, open_request, text)
from raw_packets import CIPHERS, MACS, Clear


@dataclass(frozen=True)
class Offer:
    """What our KEXINIT says."""
    kex: tuple = ("curve25519-sha256", "kex-strict-c-v00@openssh.com")
    host_keys: tuple = ("ssh-ed25519",)
    ciphers: tuple = ("chacha20-poly1305@openssh.com",)
    macs: tuple = ("hmac-sha2-256-etm@openssh.com",)
    compression: tuple = ("none",)
    guessed: bool = False  # first_kex_packet_follows

    def payload(self):
        lists = (self.kex, self.host_keys, self.ciphers, self.ciphers, self.macs, self.macs, self.compression,
                 self.compression, (), ())
        return bytes([KEXINIT]) + os.urandom(16) + b"".join(map(names, lists)) + bytes([self.guessed]) + number(0)


class Agreed:
    """What one key exchange gives: the hash, and from it the ciphers of both directions (RFC 4253, 7.2)."""

    def __init__(self, offer, secret, exchange_hash, session_id):
        self.offer, self.secret, self.hash, self.session_id = offer, big(secret), exchange_hash, session_id

    def bytes(self, letter, count):
        made = b""
        while len(made) < count:
            made += hashlib.sha256(self.secret + self.hash + (made or letter + self.session_id)).digest()
        return made[:count]

    def cipher(self, letters):
        kind, key_bytes = CIPHERS[self.offer.ciphers[0]]
        mac = MACS[self.offer.macs[0]]
        iv, key, mac_key = (self.bytes(letter, count) for letter, count in zip(letters, (kind.iv, key_bytes, mac().digest_size)))
        return kind(key, iv, mac_key, mac)


class RawPeer:
    def __init__(self, port, offer=Offer(), source="127.0.0.1"):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE, source_address=(source, 0))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.offer = offer
        self.unread = bytearray()
        self.waiting = deque()  # payloads that came while keys were exchanged
        self.channels = {}
        self.sending, self.receiving = Clear(), Clear()
        self.sent = self.received = 0  # sequence numbers of the next packets
        self.own_name, self.their_name = b"SSH-2.0-raw", None
        self.session_id = None
        self.exchanges = 0
        self.strict = False
        self.host_key = None

    def close(self):
        self.socket.close()

    # Bytes.

    def send_raw(self, data):
        try:
            self.socket.sendall(data)
        except OSError as error:
            raise Gone from error

    def take(self, count, end):
        while len(self.unread) < count:
            self.socket.settimeout(max(end - time.monotonic(), 0.001))
            try:
                part = self.socket.recv(262144)
            except socket.timeout as error:
                raise Silence from error
            except OSError as error:
                raise Gone from error
            if not part:
                raise Gone
            self.unread += part
        part = bytes(self.unread[:count])
        del self.unread[:count]
        return part

    def has_something(self, seconds=0):
        return bool(self.waiting or self.unread or select.select([self.socket], [], [], seconds)[0])

    # Packets.

    def seal(self, payload, padding=None):
        return self.seal_inner(self.sending.inner(payload, padding))

    def seal_inner(self, inner, length=None):
        """`inner`: padding length, payload and padding, right or not; `length`: what the packet says that it has."""
        sealed = self.sending.seal(self.sent, inner, length)
        self.sent = (self.sent + 1) % (1 << 32)
        return sealed

    def send(self, *payloads):
        self.send_raw(b"".join(self.seal(payload) for payload in payloads))

    def read_packet(self, seconds=PATIENCE):
        """The next payload, whatever it is."""
        end = time.monotonic() + seconds
        cipher = self.receiving
        while len(self.unread) < 4:  # not taken yet: a silence leaves it for the next call
            self.unread[:0] = self.take(len(self.unread) + 1, end)
        length = cipher.length(self.received, bytes(self.unread[:4]))
        whole = self.take(4 + length + cipher.tag, end)
        payload = cipher.open(self.received, whole[:4], whole[4:])
        self.received = (self.received + 1) % (1 << 32)
        if payload[0] == DISCONNECT:
            raise Gone(payload[9:9 + int.from_bytes(payload[5:9], "big")].decode(errors="replace"))
        return payload

    def read(self, seconds=PATIENCE):
        """The next payload that is not about keys."""
        end = time.monotonic() + seconds
        while True:
            payload = self.waiting.popleft() if self.waiting else self.read_packet(max(end - time.monotonic(), 0))
            if payload[0] != KEXINIT:
                return payload
            self.exchange_keys(theirs=payload)

    def read_until_gone(self, seconds=PATIENCE):
        """Every payload until the other side has left; the last is the Gone. Silence when it does not leave."""
        end, payloads = time.monotonic() + seconds, []
        try:
            while True:
                payloads.append(self.read_packet(max(end - time.monotonic(), 0)))
        except Gone as gone:
            return [*payloads, gone]

    # Identification and keys.

    def greet(self, name=None, ending=b"\r\n"):
        if name is not None:
            self.own_name = name
        self.send_raw(self.own_name + ending)
        return self.hear_greeting()

    def hear_greeting(self):
        line, end = b"", time.monotonic() + PATIENCE
        while not line.endswith(b"\n"):
            line += self.take(1, end)
        self.their_name = line.rstrip(b"\r\n")
        return self.their_name

    def read_of_kind(self, kind):
        """Of an exchange: everything else that comes meanwhile is kept for later."""
        while True:
            payload = self.read_packet()
            if payload[0] == kind:
                return payload
            self.waiting.append(payload)

    def exchange_keys(self, offer=None, theirs=None, before_new_keys=()):
        """All of it, from our KEXINIT to their NEWKEYS. `theirs`: their KEXINIT, if it came already."""
        offer = offer or self.offer
        ours = offer.payload()
        private = X25519PrivateKey.generate()
        public = private.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
        self.send(ours)
        theirs = theirs or self.read_of_kind(KEXINIT)
        if offer.guessed:
            self.send(bytes([KEX_INIT]) + text(b"a guess"))
        self.send(*before_new_keys, bytes([KEX_INIT]) + text(public))
        reply = Reader(self.read_of_kind(KEX_REPLY)[1:])
        host_key, their_public, signature = reply.text(), reply.text(), reply.text()
        secret = int.from_bytes(private.exchange(X25519PublicKey.from_public_bytes(their_public)), "big")
        spoken = b"".join(map(text, (self.own_name, self.their_name, ours, theirs, host_key, public, their_public)))
        exchange_hash = hashlib.sha256(spoken + big(secret)).digest()
        Ed25519PublicKey.from_public_bytes(host_key[-32:]).verify(signature[-64:], exchange_hash)
        self.host_key = host_key
        is_first = self.session_id is None
        self.session_id = self.session_id or exchange_hash
        agreed = Agreed(offer, secret, exchange_hash, self.session_id)
        self.strict = is_strict(ours, theirs) if is_first else self.strict
        self.change_keys(agreed)

    def change_keys(self, agreed):
        self.send(bytes([NEWKEYS]))
        self.sending = agreed.cipher((b"A", b"C", b"E"))
        self.read_of_kind(NEWKEYS)
        self.receiving = agreed.cipher((b"B", b"D", b"F"))
        if self.strict:
            self.sent = self.received = 0
        self.exchanges += 1

    # Login.

    def ask_service(self, name="ssh-userauth"):
        self.send(bytes([SERVICE_REQUEST]) + text(name))
        return self.read()

    def ask_login(self, user, method="none", rest=b"", service="ssh-connection"):
        """The answer: AUTH_SUCCESS, AUTH_FAILURE or what came instead."""
        self.send(login_request(user, method, rest, service))
        return self.read()[0]

    def ask_password(self, user, password):
        return self.ask_login(user, "password", b"\0" + text(password))

    def log_in(self, user="run"):
        if self.ask_service()[0] != SERVICE_ACCEPT or self.ask_login(user) != AUTH_SUCCESS:
            raise Gone("no login")
        return self

    # Channels.

    def open_channel(self, window=1 << 21, most=32768, kind="session"):
        """The channel, or None when it was refused."""
        channel = Channel(self, len(self.channels), window)
        self.channels[channel.own] = channel
        self.send(open_request(channel.own, window, most, kind))
        answer = channel.read()
        if answer[0] != OPENED:
            return None
        channel.opened(Reader(answer[5:]))
        return channel


def is_strict(ours, theirs):
    return b"kex-strict-c-v00@openssh.com" in ours and b"kex-strict-s-v00@openssh.com" in theirs


def with_keys(port, offer=Offer(), source="127.0.0.1"):
    """A peer that has exchanged keys and not logged in."""
    peer = RawPeer(port, offer, source)
    peer.greet()
    peer.exchange_keys()
    return peer


def inside(port, offer=Offer(), user="run"):
    return with_keys(port, offer).log_in(user)


def offering(**lists):
    return replace(Offer(), **lists)
