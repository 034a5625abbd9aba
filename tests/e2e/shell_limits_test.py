"""What the person at a shell is told of its time: nothing of limits below two minutes, and otherwise a minute before."""
import json
import os
import pty
import select
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import SSH, Service, run_tests  # noqa: E402

IDLE = b"\r\nmayfly: no input for 1 min; this jail ends in 1 min unless you type\r\n"
WALL = b"\r\nmayfly: this jail ends in 1 min (time limit)\r\n"


class Shell:
    """ssh on a terminal, against a service of its own whose shells have these limits."""

    def __init__(self, **limits):
        self.config = tempfile.NamedTemporaryFile("w", suffix=".jsonc")
        self.config.write(json.dumps({"limits": {"shell": {"defaults": limits}}}))
        self.config.flush()
        self.service = Service("--config", self.config.name)
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execv(SSH[0], [*SSH, "-p", str(self.service.ssh_port), "run@127.0.0.1"])
        self.text, self.began = b"", time.monotonic()
        self.read_until(b"connection drops\r\n", 20)
        self.began = time.monotonic()

    def read_until(self, wanted, seconds):
        """How long after the greeting it came."""
        end = time.monotonic() + seconds
        while wanted not in self.text:
            assert time.monotonic() < end, f"{wanted} not within {seconds} s: {self.text}"
            if select.select([self.fd], [], [], 0.1)[0]:
                self.text += os.read(self.fd, 65536)
        return time.monotonic() - self.began

    def end(self):
        try:
            while more := os.read(self.fd, 65536):
                self.text += more
        except OSError:  # EIO: ssh has left the terminal
            pass
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.fd)
        self.service.stop()
        self.config.close()
        return status


def test_a_shell_with_less_than_two_minutes_ends_without_a_warning():
    shell = Shell(wallMs=119999, idleMs=2000)
    took = shell.read_until(b"ending=idle-limit", 10)
    assert 1.5 < took < 5, took
    assert shell.end() == 124 and b"1 min" not in shell.text, shell.text


# Two minutes and a half: only `etc/test --long` has the time.
def test_a_shell_is_warned_of_both_limits_and_ends_when_it_was_said():
    if "MAYFLY_LONG" not in os.environ:
        return
    shell = Shell(wallMs=150000, idleMs=120000)
    idle = shell.read_until(IDLE, 70)
    os.write(shell.fd, b"\n")
    wall = shell.read_until(WALL, 40)
    ended = shell.read_until(b"ending=time-limit", 70)
    assert abs(idle - 60) < 1.5 and abs(wall - 90) < 1.5 and abs(ended - 150) < 1.5, (idle, wall, ended)
    assert shell.end() == 124 and shell.text.count(IDLE) == 1 and shell.text.count(WALL) == 1, shell.text


if __name__ == "__main__":
    run_tests(sys.modules[__name__])
