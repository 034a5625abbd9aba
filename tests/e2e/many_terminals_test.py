"""Many people at terminals at once see what they type. Forty; three hundred with MAYFLY_LONG (etc/test --long).

The people are one program on this very machine (guest/terminals.cpp), and each presses a key a second.
"""
import atexit
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import Service, children_of, ends_within, run_tests  # noqa: E402
from inventory import LONG, anonymous_kib, assert_back_to, core_processes, descendants, needs_root, process_table, pss_kib, warmed_up  # noqa: E402

SESSIONS, SECONDS = (300, 60) if LONG else (40, 8)
# 50 ms is the promise, on a machine with two processors and nothing else to do. Where forty are a part of a test run the
# machine may be busy with others.
MOST_MEDIAN_MS = 50 if LONG else 1000

needs_root()
ends_within(150, 800)
CONFIG = tempfile.NamedTemporaryFile("w", suffix=".jsonc", prefix="mayfly-terminals-")
# As an operator would for a course: three hundred shells of 256 MiB are more than most machines have, and a hundred people come
# from one address.
json.dump({"limits": {"shell": {"defaults": {"memoryBytes": 64 << 20, "diskBytes": 16 << 20}}},
           "principals": {"live": 100, "requestsPerSecond": 100}}, CONFIG)
CONFIG.flush()
service = Service("--config", CONFIG.name)
atexit.register(service.stop)
service.get("/api/containment")  # the examination at the start is over


def report_memory():
    sessions = children_of(service.helper("mayfly-sshd")).get("mayfly-sshd-session", [])
    assert len(sessions) == SESSIONS, len(sessions)
    own, shared = statistics.mean(map(anonymous_kib, sessions)), statistics.mean(map(pss_kib, sessions))
    everything = sum(map(pss_kib, descendants(service.process.pid, process_table()) - set(core_processes(service).values())))
    print(f"        one session process: {own:.0f} KiB of its own, Pss {shared:.0f} KiB; with its relay, its init and the program, "
          f"Pss {everything / SESSIONS:.0f} KiB")


def report_echo(times_ms, missing):
    times_ms.sort()
    at = lambda part: times_ms[min(int(len(times_ms) * part), len(times_ms) - 1)]  # noqa: E731
    print(f"        {SESSIONS} terminals, {len(times_ms)} keys: median {statistics.median(times_ms):.2f} ms, p90 {at(.9):.2f} ms, "
          f"p99 {at(.99):.2f} ms, the slowest {times_ms[-1]:.1f} ms; load {os.getloadavg()[0]:.1f}")
    assert missing == 0, f"{missing} never saw their last key"
    assert len(times_ms) > SESSIONS * SECONDS * 0.8, len(times_ms)
    assert statistics.median(times_ms) < MOST_MEDIAN_MS


class People:
    """The program that opens the terminals, types and leaves, a step at each word."""

    def __init__(self, seconds, profiles):
        self.program = subprocess.Popen([f"{os.environ['MAYFLY_BIN']}/tests/ssh-terminals", str(service.ssh_port), str(SESSIONS), str(seconds),
                                         *profiles], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        assert self.line() == ["open"]
        return self

    def __exit__(self, *_):
        self.program.kill()
        self.program.communicate()

    def line(self):
        words = self.program.stdout.readline().split()
        assert words, (self.program.wait(timeout=5), self.program.stderr.read())
        return words

    def go_on(self):
        self.program.stdin.write("on\n")
        self.program.stdin.flush()

    def type(self):
        """The milliseconds to each echo, and how many people never saw their last key."""
        self.go_on()
        echoes, missing = self.line(), self.line()
        return [int(word) / 1000 for word in echoes[1:]], int(missing[1])

    def leave(self):
        self.go_on()
        assert self.program.wait(timeout=60) == 0


def come_and_go():
    with People(0, ["run"]) as people:
        people.type()
        people.leave()


BEFORE = warmed_up(service, come_and_go)


def with_people_at(profiles):
    began = time.monotonic()
    with People(SECONDS, profiles) as people:
        print(f"        all are in after {time.monotonic() - began:.1f} s")
        live = len(service.jails())
        assert live == SESSIONS, live
        report_memory()
        report_echo(*people.type())
        people.leave()
    assert_back_to(service, BEFORE)


def test_everybody_at_a_shell_sees_what_they_type():
    with_people_at(["run"])


def test_everybody_at_a_shell_or_at_python_sees_what_they_type():
    with_people_at(["run", "python"])


if __name__ == "__main__":
    run_tests(sys.modules[__name__])
