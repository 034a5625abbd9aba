#!/usr/bin/env python3
"""A supervisor without jails: speaks the lease protocol (jail/wire/lease.h) and runs commands as plain processes.

For tests of the SSH front end alone. Some commands are not run but played: "fake:queue", "fake:refuse", "fake:fail",
"fake:time-limit", "fake:silent" (asked for, never answered). Every message that comes is written down in SOCKET.heard, as
one line. Usage: fake_supervisor.py SOCKET
"""
import fcntl
import json
import os
import re
import selectors
import signal
import socket
import struct
import sys
import termios
import threading

# Packed (jail/wire/packed.h), in the order of result_wire.cpp.
CONTROLS = ("none ephemeral cleared user-namespace none seccomp landlock cgroup-v1 cgroup-v1 cgroup-v1 supervisor witness "
            "private")
LIMITS = f"3600000 600000 900000 {256 << 20} 128 1000 {64 << 20} 8192 256 0 {4 << 30}"
TOTALS = "0 0 " + "0" * 64


def step_count():
    """kStepCount of jail/spec/step.h: as many times does the supervisor tell."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../jail/spec/step.h")) as header:
        steps = re.search(r"enum class Step : std::uint8_t \{(.*?)^\};", header.read(), re.M | re.S).group(1)
    names = re.findall(r"^ *(\w+)(?: = \d+)?,", steps, re.M)
    assert (names[0], names[-1]) == ("None", "Execute"), names
    return len(names)


METRICS = "0 1 1 1 1 - - -" + " 0" * step_count()
WHY = {"cpu": "", "memoryPeak": "fake", "processesPeak": "fake"}
WRONG_CODE = "wrong-code"  # any other is good
SHELLS = {"run": ["/bin/sh"], "python": ["/usr/bin/python3", "-q"]}


def result(run, ending, text="", exitCode="-", signal="-", failedStep=0, failedErrno=0):
    facts = f"{run.id} {ending} {exitCode} {signal} {failedStep} {failedErrno} - 0 {run.profile} -"
    return {"facts": facts, "text": text, "out": TOTALS, "err": TOTALS, "controls": CONTROLS, "limits": LIMITS,
            "metrics": METRICS, "why": WHY}


class Run:
    def __init__(self, front_end, message, fds):
        request = message["request"]
        self.front_end, self.number = front_end, message["run"]
        self.id = "j_" + "fake%022d" % self.number
        self.profile = request["profile"]
        self.terminal = request.get("terminal")
        self.fds = list(fds)
        self.out = self.fds.pop(0)
        self.err = None if self.terminal else self.fds.pop(0)
        self.input = self.fds.pop(0) if message["stdin"] else None
        self.command = None
        if request.get("payload"):
            part = request["payload"][0]
            self.command = os.pread(self.fds[0], part["length"], part["offset"]) if part["length"] else b""
            if part["length"]:
                os.close(self.fds.pop(0))
        self.pid = self.master = None
        self.cancelled = None

    def say(self, **message):
        self.front_end.send(dict(run=self.number, **message))

    def close_peer(self, line=""):
        target = self.out if self.err is None else self.err
        if line:
            os.set_blocking(target, True)
            try:
                os.write(target, (line + ("\r\n" if self.terminal else "\n")).encode())
            except OSError:
                pass
        for fd in (self.out, self.err, self.input):
            if fd is not None:
                os.close(fd)

    def argv(self):
        if self.command is None:
            if self.profile == "python" and not self.terminal:
                return ["/usr/bin/python3", "-"]
            return SHELLS[self.profile]
        if self.profile == "python":
            return ["/usr/bin/python3", "-c", self.command]
        return ["/bin/sh", "-c", self.command]

    def start(self):
        self.say(say="running", id=self.id, controls=CONTROLS, limits=LIMITS)
        for fd in (self.out, self.err, self.input):
            if fd is not None:
                os.set_blocking(fd, True)
        if self.terminal:
            self.start_on_terminal()
        else:
            self.pid = self.spawn({0: self.input, 1: self.out, 2: self.err})
            self.close_peer()
        threading.Thread(target=self.wait, daemon=True).start()

    def spawn(self, stdio, terminal=False):
        pid = os.fork()
        if pid == 0:
            try:
                os.setsid()
                for number, fd in stdio.items():
                    os.dup2(fd, number)
                if terminal:
                    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
                os.closerange(3, 512)
                signal.signal(signal.SIGPIPE, signal.SIG_DFL)
                environment = {"HOME": "/tmp", "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
                if terminal:
                    environment["TERM"] = self.terminal["term"] or "dumb"
                argv = self.argv()
                os.execve(argv[0], argv, environment)
            finally:
                os._exit(126)
        return pid

    def start_on_terminal(self):
        self.master, slave = os.openpty()
        self.resize(self.terminal["columns"], self.terminal["rows"])
        self.pid = self.spawn({0: slave, 1: slave, 2: slave}, terminal=True)
        os.close(slave)
        self.pumps = [threading.Thread(target=self.pump, args=pair, daemon=True)
                      for pair in ((self.master, self.out), (self.input, self.master))]
        for pump in self.pumps:
            pump.start()

    @staticmethod
    def pump(source, sink):
        try:
            while True:
                data = os.read(source, 65536)
                if not data:
                    return
                while data:
                    data = data[os.write(sink, data):]
        except OSError:
            pass

    def wait(self):
        _, status = os.waitpid(self.pid, 0)
        if self.terminal:
            self.pumps[0].join()
            self.close_peer()
        if self.cancelled:
            ended = result(self, self.cancelled)
        elif os.WIFEXITED(status):
            ended = result(self, "exited", exitCode=os.WEXITSTATUS(status))
        else:
            ended = result(self, "signalled", signal=os.WTERMSIG(status))
        self.say(say="ended", result=ended)

    def resize(self, columns, rows):
        if self.master is not None:
            fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def kill(self, number):
        if self.pid:
            try:
                os.killpg(self.pid, number)
            except ProcessLookupError:
                pass

    def play(self, scene):
        if scene == "refuse":
            self.close_peer()
            self.say(say="refused", id=self.id, kind="queue-full", field="", text="the queue is full \x1b[31m", retryAfterMs=1000)
        elif scene == "fail":
            self.close_peer()
            self.say(say="ended", result=result(self, "failed", "could not be built"))
        elif scene == "time-limit":
            self.say(say="running", id=self.id, controls=CONTROLS, limits=LIMITS)
            self.say(say="ended", result=result(self, "time-limit", "ran for 1.0 s"))
            self.close_peer("mayfly: ending=time-limit jail=%s: ran for 1.0 s" % self.id)
        elif scene == "queue":
            self.say(say="queued", id=self.id, position=3)
            self.command = b"echo served"
            threading.Timer(0.3, self.start).start()


class FrontEnd:
    def __init__(self, connection, journal):
        self.connection, self.journal, self.runs, self.lock = connection, journal, {}, threading.Lock()

    def send(self, message):
        with self.lock:
            try:
                self.connection.send(json.dumps(message).encode())
            except OSError:
                pass

    def hear(self):
        fds = []
        try:
            data, fds, _, _ = socket.recv_fds(self.connection, 65536, 8)
        except ConnectionResetError:
            data = b""
        if not data:
            for run in self.runs.values():
                run.kill(signal.SIGKILL)
            return False
        message = json.loads(data)
        self.journal.write(json.dumps(message) + "\n")
        say = message["say"]
        if say == "log-in":
            good = message["user"] in SHELLS and message["credential"] != WRONG_CODE
            principal = "anonymous@" + message["source"] if good and message["way"] != "key-offer" else ""
            self.send({"say": "login", "good": good, "principal": principal})
        elif say == "open":
            run = self.runs[message["run"]] = Run(self, message, fds)
            if run.command and run.command.startswith(b"fake:"):
                run.play(run.command[5:].decode())
            else:
                run.start()
        elif say == "resize":
            self.runs[message["run"]].resize(message["columns"], message["rows"])
        elif say == "signal":
            self.runs[message["run"]].kill(message["signal"])
        elif say == "cancel":
            run = self.runs[message["run"]]
            run.cancelled = message["why"]
            run.kill(signal.SIGKILL)
        return True


def main():
    path = sys.argv[1]
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(path)
    listener.listen(128)
    journal = open(path + ".heard", "w", buffering=1)
    chooser = selectors.DefaultSelector()
    chooser.register(listener, selectors.EVENT_READ, None)
    while True:
        for key, _ in chooser.select():
            if key.data is None:
                connection, _ = listener.accept()
                chooser.register(connection, selectors.EVENT_READ, FrontEnd(connection, journal))
            elif not key.data.hear():
                chooser.unregister(key.fileobj)
                key.fileobj.close()


if __name__ == "__main__":
    main()
