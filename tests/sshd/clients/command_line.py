"""Clients that are programs: one process is one connection, except for OpenSSH's, which can share one."""
import fcntl
import os
import socket
import struct
import subprocess
import termios
import time

from clients.channel import SECONDS, Channel
from harness import free_port, wait_until


def read_all(port):
    """Everything that a listener on this port of ours sends."""
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as peer:
        text = b""
        try:
            while data := peer.recv(4096):
                text += data
        except ConnectionResetError:
            pass
        return text


class ProcessChannel(Channel):
    """A client on pipes, or on a terminal of its own as a person's would be."""

    def __init__(self, argv, environment, terminal=None):
        super().__init__()
        self.forwarded_port = None
        self._master = None
        if terminal:
            self._master, slave = os.openpty()
            self.resize(*terminal)
            streams = {"stdin": slave, "stdout": slave, "stderr": slave, "preexec_fn": self._take_terminal}
        else:
            streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        # A session of its own: no client finds the terminal of whoever runs the tests and asks there.
        self.process = subprocess.Popen(argv, env=environment, start_new_session=True, bufsize=0, **streams)
        if terminal:
            os.close(slave)
            self._readers = [self.collect(lambda: os.read(self._master, 65536), self.out)]
        else:
            self._readers = [self.collect(lambda: self.process.stdout.read(65536), self.out),
                             self.collect(lambda: self.process.stderr.read(65536), self.err)]

    @staticmethod
    def _take_terminal():
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def send(self, data):
        view = memoryview(data)
        while view:
            view = view[os.write(self._master, view) if self._master is not None else self.process.stdin.write(view):]

    def end_input(self):
        self.process.stdin.close()

    def resize(self, rows, columns):
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def wait(self):
        end = time.monotonic() + SECONDS
        for reader in self._readers:
            reader.join(max(0.0, end - time.monotonic()))
        try:
            self.status = self.process.wait(max(0.1, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise AssertionError(f"it has not ended: out {bytes(self.out[-2000:])!r} err {bytes(self.err[-2000:])!r}") from None
        return self

    def reach(self):
        return read_all(self.forwarded_port)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for reader in self._readers:
            reader.join(SECONDS)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        if self._master is not None:
            os.close(self._master)
            self._master = None


class CommandLine:
    """What the programs have in common. Each kind says its options."""

    skills = frozenset({"terminal"})
    asking = ()       # options that ask for agent, X11 and remote forwarding
    told = {}         # what of these is asked for: the words with which the client tells that it was refused
    denial = b""      # said when a user name is refused
    no_subsystem = None

    def __init__(self, place):
        self.place = place

    def argv(self, user, words, options=()):
        return [*self.program(), *options, f"{user}@127.0.0.1", *words]

    def start(self, user, command=None, terminal=None, options=()):
        words = [] if command is None else [command]
        return ProcessChannel(self.argv(user, words, [*options, "-t" if terminal else "-T"]), self.place.environment, terminal)

    def is_refused(self, user):
        done = self.start(user, "echo in").run()
        return self.denial in done.err and done.out == b""

    def has_subsystem(self, name):
        done = self.start("run", name, options=["-s"]).run()
        assert done.out or (done.status and self.no_subsystem in done.err), (done.status, done.err)
        return bool(done.out)

    def start_asking(self, target):
        port = free_port()
        channel = self.start("run", "env; echo ready; cat", options=[*self.asking, "-L", f"{port}:127.0.0.1:{target}"])
        channel.forwarded_port = port
        return channel

    def refused(self, channel):
        return {name for name, words in self.told.items() if words in channel.err}


class OpenSsh(CommandLine):
    name = "ssh"
    skills = frozenset({"terminal", "channels", "subsystem"})
    killed = (255, None)
    asking = ("-v", "-A", "-Y", "-R", "0:127.0.0.1:1")
    told = {"remote": b"remote port forwarding failed", "X11": b"X11 forwarding request failed"}
    denial = b"Permission denied"
    no_subsystem = b"subsystem request failed"

    def options(self):
        return ["-F", "none", "-o", "StrictHostKeyChecking=yes", "-o", f"UserKnownHostsFile={self.place.known_hosts}", "-o", "BatchMode=yes",
                "-o", "LogLevel=ERROR", "-o", f"ConnectTimeout={SECONDS}"]

    def program(self):
        return ["ssh", *self.options(), "-p", str(self.place.port)]

    def connect(self, user):
        return SharedConnection(self, user)


class SharedConnection:
    """OpenSSH's ControlMaster. A client that is refused a channel would otherwise open a connection of its own."""

    def __init__(self, ssh, user):
        self.ssh, self.user = ssh, user
        self.path = f"{ssh.place.home}/control"
        self.master = ssh.start(user, options=["-M", "-N", "-S", self.path])
        wait_until(lambda: os.path.exists(self.path), SECONDS, "the master is connected")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.master.process.terminate()
        self.master.wait()
        self.master.close()

    def start(self, command=None, terminal=None):
        return self.ssh.start(self.user, command, terminal, ["-S", self.path, "-o", "ProxyCommand=false"])

    def has_subsystem(self, name):
        done = self.ssh.start(self.user, name, options=["-S", self.path, "-o", "ProxyCommand=false", "-s"]).run()
        return bool(done.out) or done.status == 0


class Dbclient(CommandLine):
    """It wants no answer to a request for a subsystem, and would wait for ever behind a refusal: has_subsystem is left out."""
    name = "dbclient"
    killed = (0, None)  # it ignores exit-signal, whoever sends it
    asking = ("-A", "-R", "39999:127.0.0.1:1")
    told = {"remote": b"Remote TCP forward request failed"}
    denial = b"exited: Disconnect received"

    def program(self):
        return ["dbclient", "-p", str(self.place.port)]

    def is_refused(self, user):
        """It asks on as fast as it can, once more behind the sixth refusal, which is the last: our last word must arrive all the same."""
        done = self.start(user, "echo in").run()
        return self.denial in done.err and done.err.count(b"'s password: ") == 7 and done.out == b""


class Plink(CommandLine):
    name = "plink"
    skills = frozenset({"terminal", "subsystem"})
    killed = (128, None)
    asking = ("-v", "-A", "-X", "-R", "39999:127.0.0.1:1")
    told = {"remote": b"Remote port forwarding from 39999 refused", "X11": b"X11 forwarding refused", "agent": b"Agent forwarding refused"}
    denial = b"Cannot answer interactive prompts in batch mode"
    no_subsystem = b"Server refused to start a shell/command"

    def program(self):
        return ["plink", "-batch", "-ssh", "-P", str(self.place.port), "-hostkey", self.place.fingerprint]
