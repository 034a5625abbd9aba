"""Paired timings: everything that is compared runs in turn, in one process tree; what counts is the ratio of medians."""
import os
import statistics
import sys
import time

PACE = 1 / 20
BLOCK = 4  # runs back to back in the tight loop
REST = 0.03
STARTS = 4


def now_us():
    return time.perf_counter_ns() / 1000


def spawn(argv):
    """Microseconds of one program, from before its start until it is reaped; its exit status must be 0."""
    begin = now_us()
    null = [(os.POSIX_SPAWN_OPEN, n, "/dev/null", os.O_RDWR, 0) for n in (0, 1)]
    pid = os.posix_spawn(argv[0], argv, {"PATH": "/usr/bin:/bin", "HOME": "/"}, file_actions=null)
    _, status = os.waitpid(pid, 0)
    took = now_us() - begin
    if status != 0:
        sys.exit(f"{' '.join(argv)} ended with wait status {status}")
    return took


def nothing():
    """Goes on from start to start."""


def interleave(subjects, runs, pace):
    """{name: [microseconds]}: `runs` of each; two rounds of warm-up are not counted."""
    times = {name: [] for name in subjects}
    block = 1 if pace else BLOCK
    for turn in range(-2, -(-runs // block)):
        for name, once in subjects.items():
            time.sleep(PACE if pace else REST)
            took = [once() for _ in range(block)]
            if turn >= 0:
                times[name] += took
    return times


def report(promise, start, runs, targets, paces=(False, True)):
    """`start()` begins everything anew: the subjects, and what ends them. `targets`: {subject: {baseline: most}}; the column
    of ratios is to the first baseline."""
    first = next(iter(next(iter(targets.values()))))
    for pace in paces:
        times = {}
        for _ in range(STARTS):
            subjects, close = start()
            for name, values in interleave(subjects, -(-runs // STARTS), pace).items():
                times.setdefault(name, []).extend(values)
            close()
        medians = {name: statistics.median(values) for name, values in times.items()}
        counted = min(len(values) for values in times.values())
        print(f"\n{promise}  {'20 a second' if pace else 'tight loop'}, {counted} runs each, ratio to {first}")
        for name, median in medians.items():
            print(f"  {name:32} {median:10.0f} us  {median / medians[first]:6.3f}{verdicts(median, medians, targets.get(name, {}))}")
        sys.stdout.flush()


def verdicts(median, medians, most_of):
    words = ""
    for baseline, most in most_of.items():
        ratio = median / medians[baseline]
        words += f"  {ratio:.3f} of {baseline}, target {most:.2f}: {'met' if ratio <= most else 'MISSED'};"
    return words.rstrip(";")
