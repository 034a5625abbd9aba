"""One channel of a RawPeer (raw_ssh.py), with its windows in the test's hands."""
import time
from collections import deque
from dataclasses import dataclass, field

from raw_messages import (ADJUST, CLOSE, DATA, EOF, EXTENDED_DATA, FAILURE, OPENED, REQUEST, SUCCESS, Reader, number, text)

PATIENCE = 60  # of a read that has no time of its own; sanitizers and other tests make this machine slow


class Gone(Exception):
    """The other side has closed; `reason` is that of its DISCONNECT, when there was one."""

    def __init__(self, reason=None):
        super().__init__(reason)
        self.reason = reason


class Silence(Exception):
    """Nothing came in time."""


@dataclass
class Told:
    """What a channel said until it closed."""
    out: bytes = b""
    err: bytes = b""
    order: list = field(default_factory=list)  # kinds of messages, requests by their names; data in a row once


class Channel:
    def __init__(self, peer, own, window):
        self.peer, self.own = peer, own
        self.window = window      # that they may still send
        self.room = 0             # that we may still send
        self.theirs = self.most = None
        self.waiting = deque()

    def opened(self, answer):
        self.theirs, self.room, self.most = answer.number(), answer.number(), answer.number()

    def read(self, seconds=PATIENCE):
        """The next payload of this channel, their adjustments of the window apart."""
        end = time.monotonic() + seconds
        while not self.waiting:
            payload = self.peer.read(max(end - time.monotonic(), 0))
            channel = self.peer.channels.get(int.from_bytes(payload[1:5], "big")) if OPENED <= payload[0] <= FAILURE else None
            if channel is None:
                continue
            if payload[0] == ADJUST:
                channel.room += int.from_bytes(payload[5:9], "big")
                if channel is self:
                    return payload
            else:
                channel.waiting.append(payload)
        return self.waiting.popleft()

    def say(self, kind, rest=b""):
        self.peer.send(bytes([kind]) + number(self.theirs) + rest)

    def request(self, name, rest=b"", answer=True):
        """Whether it succeeded; None when no answer is wanted."""
        self.say(REQUEST, text(name) + bytes([answer]) + rest)
        if not answer:
            return None
        return self.answer() == SUCCESS

    def answer(self):
        passed = []
        while True:
            payload = self.read()
            if payload[0] in (SUCCESS, FAILURE):
                self.waiting.extendleft(reversed(passed))
                return payload[0]
            if payload[0] != ADJUST:
                passed.append(payload)

    def run(self, command):
        return self.request("exec", text(command))

    def send(self, data):
        """Within the window, waiting for it; what they say meanwhile is kept."""
        passed = []
        while data:
            while self.room == 0:
                payload = self.read()
                if payload[0] != ADJUST:
                    passed.append(payload)
            part = data[:min(self.most, self.room)]
            self.say(DATA, text(part))
            self.room -= len(part)
            data = data[len(part):]
        self.waiting.extendleft(reversed(passed))

    def end_input(self):
        self.say(EOF)

    def adjust(self, count):
        self.say(ADJUST, number(count))
        self.window += count

    def to_the_end(self, seconds=PATIENCE, adjusting=True):
        """Everything until their CLOSE, which is answered."""
        told, out, err = Told(), [], []
        while CLOSE not in told.order:
            payload = self.read(seconds)
            if payload[0] in (DATA, EXTENDED_DATA):
                part = payload[9:] if payload[0] == DATA else payload[13:]
                (out if payload[0] == DATA else err).append(part)
                self.window -= len(part)
                if adjusting and self.window < 1 << 20:
                    self.adjust(1 << 21)
            name = Reader(payload[5:]).text().decode() if payload[0] == REQUEST else payload[0]
            is_more = payload[0] in (DATA, EXTENDED_DATA) and told.order[-1:] == [payload[0]]
            if payload[0] != ADJUST and not is_more:
                told.order.append(name)
        self.say(CLOSE)
        told.out, told.err = b"".join(out), b"".join(err)
        return told
