"""Many people at terminals at once see what they type. Forty; three hundred with MAYFLY_LONG (etc/test --long).

The people are one program on this very machine (guest/terminals.cpp), and each presses a key a second. Beside them a `cat` on
a bare terminal is typed at (echo_beside.py), which says how busy the machine is with others.
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
from echo_beside import EchoBeside  # noqa: E402
from harness import Service, children_of, ends_within, run_tests  # noqa: E402
from inventory import LONG, anonymous_kib, assert_back_to, core_processes, descendants, needs_root, process_table, pss_kib, warmed_up  # noqa: E402

SESSIONS, SECONDS = (300, 60) if LONG else (40, 8)
# 50 ms is the promise, on a machine with two processors and nothing else to do: there an echo on a bare terminal takes a tenth
# of a millisecond, and adds nothing. Where others have the machine, too, every process that a key passes waits for its turn:
# cat and we for a bare echo, and for one of ours the client, the session, the relay and the program, each more than once. So a
# busy machine has ten bare echoes more. A delay of our own is not in the bare echo, and has no more room than the promise;
# with eight others at work on two processors the median was 4 ms beside a bare echo of 0.2 ms.
PROMISED_MS = 50
TURNS_OF_A_BARE_ECHO = 10


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
    assert len(sessions) >= SESSIONS, len(sessions)  # some may have no peer (yet): the jails are counted exactly
    own, shared = statistics.mean(map(anonymous_kib, sessions)), statistics.mean(map(pss_kib, sessions))
    everything = sum(map(pss_kib, descendants(service.process.pid, process_table()) - set(core_processes(service).values())))
    print(f"        one session process: {own:.0f} KiB of its own, Pss {shared:.0f} KiB; with its relay, its init and the program, "
          f"Pss {everything / SESSIONS:.0f} KiB")


def most_median(bare_ms):
    return PROMISED_MS + (0 if LONG else TURNS_OF_A_BARE_ECHO * statistics.median(bare_ms))


def report_echo(times_ms, missing, bare_ms):
    times_ms.sort()
    at = lambda part: times_ms[min(int(len(times_ms) * part), len(times_ms) - 1)]  # noqa: E731
    print(f"        {SESSIONS} terminals, {len(times_ms)} keys: median {statistics.median(times_ms):.2f} ms, p90 {at(.9):.2f} ms, "
          f"p99 {at(.99):.2f} ms, the slowest {times_ms[-1]:.1f} ms; load {os.getloadavg()[0]:.1f}, "
          f"a bare echo {statistics.median(bare_ms):.2f} ms ({len(bare_ms)} of them)")
    assert missing == 0, f"{missing} never saw their last key"
    assert len(times_ms) > SESSIONS * SECONDS * 0.8, len(times_ms)
    assert len(bare_ms) > SECONDS, len(bare_ms)
    assert statistics.median(times_ms) < most_median(bare_ms), most_median(bare_ms)


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
        with EchoBeside() as beside:
            times_ms, missing = people.type()
        report_echo(times_ms, missing, beside.times_ms)
        people.leave()
    assert_back_to(service, BEFORE)


def test_everybody_at_a_shell_sees_what_they_type():
    with_people_at(["run"])


def test_everybody_at_a_shell_or_at_python_sees_what_they_type():
    with_people_at(["run", "python"])


# The control run: what the tests above would say of echoes that are late, lost or not measured.
def test_late_and_missing_echoes_are_found():
    keys, quiet = SESSIONS * SECONDS, [0.1] * 10 * SECONDS
    report_echo([PROMISED_MS / 2] * keys, 0, quiet)
    for name, found in {"late": ([PROMISED_MS + 2] * keys, 0, quiet), "half of them late": ([1] * (keys // 2) + [99] * (keys // 2 + 1), 0, quiet),
                        "missing": ([1] * keys, 1, quiet), "few": ([1] * (keys // 2), 0, quiet), "alone": ([1] * keys, 0, [0.1])}.items():
        try:
            report_echo(*found)
        except AssertionError:
            continue
        raise AssertionError(f"{name}: not found")


if __name__ == "__main__":
    run_tests(sys.modules[__name__])
