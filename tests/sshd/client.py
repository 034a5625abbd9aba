"""The stock OpenSSH client as a test drives it, and where the service is that it talks to."""
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import unittest

import front_end

PORT = None
FRONT_END = None
OPTIONS = ["-F", "none", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR",
           "-o", "IdentitiesOnly=yes", "-o", "IdentityFile=none", "-o", "ConnectTimeout=20"]


def ssh_argv(*words, user="run", options=()):
    return ["ssh", *OPTIONS, *options, "-p", str(PORT), user + "@127.0.0.1", *words]


def ssh(*words, user="run", options=(), input=b"", timeout=60):
    return subprocess.run(ssh_argv(*words, user=user, options=options), input=input, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=timeout)


def until(condition, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return condition()


def fake_only(test):
    return unittest.skipIf("--port" in sys.argv, "needs the fake supervisor")(test)


class Terminal:
    """ssh on a pseudo-terminal of its own."""

    def __init__(self, *words, user="run", options=(), rows=24, columns=80):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "xterm"
            argv = ssh_argv(*words, user=user, options=options)
            os.execvp(argv[0], argv)
        self.resize(rows, columns)
        self.text = b""

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def send(self, data):
        os.write(self.fd, data)

    def read_until(self, wanted, seconds=20):
        end = time.monotonic() + seconds
        while wanted not in self.text and time.monotonic() < end:
            if select.select([self.fd], [], [], 0.1)[0]:
                try:
                    self.text += os.read(self.fd, 65536)
                except OSError:
                    break
        return wanted in self.text

    def status(self, seconds=20):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.read_until(b"\0never", 0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = None
                return os.waitstatus_to_exitcode(status)
        return None

    def close(self):
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)


def run_tests():
    """Runs the tests of the calling script; --port N names a running service, else a front end is started for them."""
    global PORT, FRONT_END
    argv = sys.argv[:]
    if "--port" in argv:
        at = argv.index("--port")
        PORT = int(argv[at + 1])
        del argv[at:at + 2]
    else:
        FRONT_END = front_end.FrontEnd()
        PORT = FRONT_END.port
    try:
        result = unittest.main(module="__main__", argv=argv, exit=False, verbosity=2).result
        return result.wasSuccessful() and result.testsRun > 0
    finally:
        if FRONT_END is not None:
            FRONT_END.stop()
