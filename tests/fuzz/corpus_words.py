"""The words of which make_corpus.py makes its inputs: SSH's data types and messages, and the harness's own records.

scenario.h describes the format.
"""
import os
import struct
import sys

# Settings: how far the peer has come, and the ways in that are open.
LOGGED_IN, KEYS, IDENTIFIED, NOTHING = range(4)
OPEN, KEYS_ONLY, INVITES, KEYS_AND_INVITES = (way << 2 for way in range(4))
FORCED_COMMAND = 0x10
# How jails behave; NEXT: each one as the next row.
HELLO, INTERACTIVE, ECHO, REFUSE, FAIL, MUCH, LATE, SILENT = range(8)
NEXT = 8
# Kinds of records.
PACKET, RAW, WAIT, JAIL_WRITES, JAIL_ENDS, PEER_HALTS, PEER_READS, ENGINE_STOPS, SERVICE_STOPS, PEER_VANISHES = range(10)
WITH_NEXT = 0x80
EXIT, SIGNAL, TIME_LIMIT, INCOMPLETE, FAILED, REFUSED = range(6)

FIRST = 43  # the number that libssh gives to the first channel


def record(kind, data=b""):
    return struct.pack(">BH", kind, len(data)) + data


def raw(data):
    return record(RAW, data)


def packet(number, body=b""):
    return record(PACKET, bytes([number]) + body)


def together(*records):
    """All of them in one write."""
    return b"".join(bytes([r[0] | WITH_NEXT]) + r[1:] for r in records[:-1]) + records[-1]


def wait(seconds):
    return record(WAIT, bytes([seconds]))


def jail_writes(run, count, stream=0):
    return record(JAIL_WRITES, bytes([run, stream, count // 16]))


def jail_ends(run, how, number=0):
    return record(JAIL_ENDS, bytes([run, how, number]))


def word(value):
    return struct.pack(">I", value)


def text(data):
    data = data.encode() if isinstance(data, str) else data
    return word(len(data)) + data


def mpint(data):
    return text(b"\0" + data if data[0] & 0x80 else data)


# --- transport

def kex_init(kex="curve25519-sha256,kex-strict-c-v00@openssh.com", cipher="aes128-ctr",
             mac="hmac-sha2-256-etm@openssh.com", compression="none", guess=False, host_key="ssh-ed25519"):
    lists = [kex, host_key, cipher, cipher, mac, mac, compression, compression, "", ""]
    return packet(20, b"c" * 16 + b"".join(text(part) for part in lists) + bytes([guess]) + word(0))


KEX_ECDH_INIT = packet(30, text(b"\x09" + bytes(31)))
NEW_KEYS = packet(21)
USERAUTH = packet(5, text("ssh-userauth"))
REKEY = kex_init() + KEX_ECDH_INIT + NEW_KEYS


# --- authentication

def auth(method, rest=b"", user="run", service="ssh-connection"):
    return packet(50, text(user) + text(service) + text(method) + rest)


def password(code, user="run"):
    return auth("password", b"\0" + text(code), user)


def interactive(user="run"):
    return auth("keyboard-interactive", text("") + text(""), user)


def answer(*answers):
    return packet(61, word(len(answers)) + b"".join(text(one) for one in answers))


GOOD, BAD = b"G", b"B"  # clear_text.cpp: the last byte of a signature decides
POINT = bytes.fromhex("046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
                      "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5")


def key_blob(kind):
    return {
        "ssh-ed25519": text("ssh-ed25519") + text(b"k" * 32),
        "sk-ssh-ed25519@openssh.com": text("sk-ssh-ed25519@openssh.com") + text(b"k" * 32) + text("ssh:"),
        "ecdsa-sha2-nistp256": text("ecdsa-sha2-nistp256") + text("nistp256") + text(POINT),
        "rsa-sha2-512": text("ssh-rsa") + mpint(b"\x01\x00\x01") + mpint(b"\xc1" + b"n" * 382 + b"\x01"),
        "ssh-dss": text("ssh-dss") + mpint(b"p" * 128) + mpint(b"q" * 20) + mpint(b"g" * 128) + mpint(b"y" * 128),
    }[kind]


def signature(kind, last):
    body = {
        "ssh-ed25519": text(b"s" * 63 + last),
        "sk-ssh-ed25519@openssh.com": text(b"s" * 63 + last) + b"\1" + word(7),
        "ecdsa-sha2-nistp256": text(mpint(b"r" * 32) + mpint(b"s" * 31 + last)),
        "rsa-sha2-512": text(b"s" * 383 + last),
    }[kind]
    return text(text(kind) + body)


def key_offer(kind="ssh-ed25519", user="run"):
    return auth("publickey", b"\0" + text(kind) + text(key_blob(kind)), user)


def key_login(kind="ssh-ed25519", last=GOOD, user="run"):
    return auth("publickey", b"\1" + text(kind) + text(key_blob(kind)) + signature(kind, last), user)


# --- channels

def channel_open(number=0, window=1 << 20, most=32768, kind="session"):
    return packet(90, text(kind) + word(number) + word(window) + word(most))


def request(name, rest=b"", channel=FIRST, want_reply=True):
    return packet(98, word(channel) + text(name) + bytes([want_reply]) + rest)


def execute(command="true", channel=FIRST):
    return request("exec", text(command), channel)


def shell(channel=FIRST):
    return request("shell", b"", channel)


def terminal(term="xterm", columns=80, rows=24, channel=FIRST, modes=b"\0"):
    return request("pty-req", text(term) + word(columns) + word(rows) + word(0) + word(0) + text(modes), channel)


def resize(columns, rows, channel=FIRST):
    return request("window-change", word(columns) + word(rows) + word(0) + word(0), channel, False)


def signal(name, channel=FIRST):
    return request("signal", text(name), channel, False)


def environment(name, value, channel=FIRST):
    return request("env", text(name) + text(value), channel)


def data(payload, channel=FIRST):
    return packet(94, word(channel) + text(payload))


def extended(payload, channel=FIRST, kind=1):
    return packet(95, word(channel) + word(kind) + text(payload))


def adjust(more, channel=FIRST):
    return packet(93, word(channel) + word(more))


def eof(channel=FIRST):
    return packet(96, word(channel))


def close(channel=FIRST):
    return packet(97, word(channel))


def global_request(name, rest=b"", want_reply=True):
    return packet(80, text(name) + bytes([want_reply]) + rest)


def keep(files):
    """Writes {name: content} below the folder that the command line names, or with --check only looks; the names that differ."""
    check, folder = sys.argv[1] == "--check", sys.argv[-1]
    other = []
    for name, content in files.items():
        path = os.path.join(folder, name)
        if not check:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(content)
        elif not os.path.exists(path) or open(path, "rb").read() != content:
            other.append(name)
    return other
