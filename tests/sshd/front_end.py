"""Starts mayfly-sshd over the fake supervisor, on a loopback port of its own; what the keeper does otherwise."""
import contextlib
import fcntl
import json
import os
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time

BIN = os.environ.get("MAYFLY_BIN", "build/dev/bin")
HERE = os.path.dirname(os.path.abspath(__file__))
# wire/startup.h
KEEPER, LISTENER, HOST_KEY, CONFIG = 3, 4, 5, 6
SPARE, SERVING = "mayfly-spare", "mayfly-session"  # what a session process calls itself before and after
SEALS = 0x1 | 0x2 | 0x4 | 0x8


def sealed_memfd(data):
    fd = os.memfd_create("test", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.write(fd, data)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, SEALS)
    return fd


def give(pairs, descriptors=None):
    """For preexec_fn: puts each descriptor under its number, inheritable, and limits how many there may be."""
    def place():
        parked = [(fcntl.fcntl(ours, fcntl.F_DUPFD, 100), number) for ours, number in pairs]
        for fd, number in parked:
            os.dup2(fd, number)
        os.closerange(max(number for _, number in pairs) + 1, 1024)
        if descriptors is not None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    return place


def is_sanitized():
    with open(os.path.join(BIN, "mayfly-sshd-session"), "rb") as program:
        return b"__asan_init" in program.read()


class FrontEnd:
    def __init__(self, descriptors=None, programs=BIN, **config):
        self.directory = tempfile.mkdtemp(prefix="mayfly-test-")
        self.lease = os.path.join(self.directory, "lease.sock")
        self.log = open(os.path.join(self.directory, "log"), "w+b")
        self.supervisor = subprocess.Popen([sys.executable, os.path.join(HERE, "fake_supervisor.py"), self.lease],
                                           stdin=subprocess.DEVNULL)
        for _ in range(500):
            if os.path.exists(self.lease):
                break
            time.sleep(0.02)
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        listener.listen(128)
        self.port = listener.getsockname()[1]
        key = subprocess.run([os.path.join(programs, "mayfly-sshd"), "--generate-host-key"], stdout=subprocess.PIPE, check=True)
        settings = dict({"lease": self.lease, "access": ["open"]}, **config)
        fds = [(os.pidfd_open(os.getpid()), KEEPER), (listener.fileno(), LISTENER), (sealed_memfd(key.stdout), HOST_KEY),
               (sealed_memfd(json.dumps(settings).encode()), CONFIG)]
        self.sshd = subprocess.Popen([os.path.join(programs, "mayfly-sshd")], preexec_fn=give(fds, descriptors), close_fds=False,
                                     stdin=subprocess.DEVNULL, stderr=self.log, env={})
        for fd, number in fds:
            if number != LISTENER:
                os.close(fd)
        listener.close()

    def children(self):
        """{pid: name} of the listener's processes."""
        with open("/proc/%d/task/%d/children" % (self.sshd.pid, self.sshd.pid)) as children:
            pids = [int(pid) for pid in children.read().split()]
        found = {}
        for pid in pids:
            with contextlib.suppress(OSError):  # it has ended meanwhile
                with open("/proc/%d/comm" % pid) as name:
                    found[pid] = name.read().strip()
        return found

    def sessions(self):
        """Pids of the session processes that serve somebody."""
        return [pid for pid, name in self.children().items() if name == SERVING]

    def spares(self):
        return [pid for pid, name in self.children().items() if name == SPARE]

    def log_text(self):
        self.log.seek(0)
        return self.log.read().decode(errors="replace")

    def heard(self):
        """Every message that the played supervisor was sent."""
        with open(self.lease + ".heard") as journal:
            return [json.loads(line) for line in journal]

    def stop(self):
        for process in (self.sshd, self.supervisor):
            process.kill()
            process.wait()
        self.log.close()
        shutil.rmtree(self.directory)
