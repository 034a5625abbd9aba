"""Node's ssh2: node/ssh2_client.js has the connection, and is told what to do in lines of JSON."""
import base64
import itertools
import json
import os
import queue
import shutil
import subprocess

from clients.channel import SECONDS, Channel, Refused

DRIVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../node/ssh2_client.js")


class Ssh2Channel(Channel):
    def __init__(self, connection, number):
        super().__init__()
        self.connection, self.number = connection, number

    def hear(self, word):
        if word["is"] in ("out", "err"):
            self.note(self.out if word["is"] == "out" else self.err, base64.b64decode(word["bytes"]))
        elif word["is"] == "exit":
            self.status, self.signalled = word["status"], word["signal"]
        elif word["is"] == "close":
            self.note_end()

    def _do(self, do, **more):
        self.connection.say(do=do, channel=self.number, **more)

    def send(self, data):
        self._do("send", bytes=base64.b64encode(data).decode())

    def end_input(self):
        self._do("end")

    def resize(self, rows, columns):
        self._do("resize", rows=rows, columns=columns)

    def signal(self, name):
        self._do("signal", name=name)

    def close(self):
        self._do("close")


class Ssh2Connection:
    def __init__(self, place, user):
        node = shutil.which("node")
        assert node, "node is missing; etc/test installs it"
        self._numbers = itertools.count(1)
        self._channels, self._answers = {}, queue.Queue()
        self._process = subprocess.Popen([node, DRIVER, str(place.port), user, base64.b64encode(place.key).decode(), place.agent_socket],
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._reader = Channel.in_background(self._hear)
        try:
            self._answer()
        except Refused:
            self.__exit__()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        try:
            status = self._process.wait(SECONDS)
            assert status == 0, f"node ended with status {status}; etc/test installs ssh2"
        finally:
            self._process.kill()
            self._reader.join(SECONDS)
            self._process.stdout.close()

    def _hear(self):
        for line in self._process.stdout:
            word = json.loads(line)
            if word["is"] in ("granted", "refused"):
                self._answers.put(word)
            else:
                self._channels[word["channel"]].hear(word)
        self._answers.put({"is": "refused", "why": "node has ended"})

    def say(self, **wish):
        self._process.stdin.write(json.dumps(wish).encode() + b"\n")
        self._process.stdin.flush()

    def _answer(self):
        answer = self._answers.get(timeout=SECONDS)
        if answer["is"] == "refused":
            raise Refused(answer["why"])
        return answer

    def ask(self, do, **more):
        """A channel, when it is granted."""
        channel = Ssh2Channel(self, next(self._numbers))
        self._channels[channel.number] = channel
        self.say(do=do, channel=channel.number, **more)
        self._answer()
        return channel

    def start(self, command=None, terminal=None):
        size = terminal and {"rows": terminal[0], "cols": terminal[1], "term": "xterm"}
        return self.ask("shell" if command is None else "exec", command=command, terminal=size)

    def is_denied(self, do, why, **more):
        try:
            self.ask(do, **more)
        except Refused as refusal:
            assert why in str(refusal), refusal
            return True
        return False

    def has_subsystem(self, name):
        return not self.is_denied("subsystem", "subsystem", name=name)


class Ssh2:
    name = "ssh2"
    skills = frozenset({"terminal", "channels", "subsystem", "signal"})
    killed = (None, "SIGTERM")
    told = {"remote", "X11", "agent"}

    def __init__(self, place):
        self.place = place

    def connect(self, user):
        return Ssh2Connection(self.place, user)

    def start(self, user, command=None, terminal=None):
        connection = self.connect(user)
        return connection.start(command, terminal).closing_with(connection)

    def is_refused(self, user):
        try:
            with self.connect(user):
                return False
        except Refused as refusal:
            assert "authentication methods failed" in str(refusal), refusal
            return True

    def has_subsystem(self, name):
        with self.connect("run") as connection:
            return connection.has_subsystem(name)

    def start_asking(self, target):
        connection = self.connect("run")
        denied = set()
        for name, do, why in (("remote", "forward-in", "bind"), ("X11", "X11", "X11"), ("agent", "agent", "agent forwarding")):
            if connection.is_denied(do, why):
                denied.add(name)
        channel = connection.start("env; echo ready; cat").closing_with(connection)
        channel.denied = denied
        channel.reach = lambda: b"" if connection.is_denied("forward-out", "open failure", port=target) else b"granted"
        return channel

    def refused(self, channel):
        return channel.denied
