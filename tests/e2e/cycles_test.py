"""P07, P42: whoever comes, runs something and leaves, leaves nothing, however often and whichever way (hostile.md B39).

Three hundred times; ten thousand times with MAYFLY_LONG (etc/test --long).
"""
import atexit
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import Service, ends_within, run_tests  # noqa: E402
from inventory import (LONG, TOLERANCE, Inventory, assert_back_to, core_processes, memory_kib, needs_root, pss_kib, settled, slope,  # noqa: E402
                       warmed_up)

CYCLES, ROUNDS = (10_000, 20) if LONG else (300, 3)
WARM_UP = 500 if LONG else 60
AT_ONCE = 4
# A leak of 1 KiB in each cycle is too much in both forms; in 300 cycles a heap that settles a few pages higher is a part of it.
# The whole host's Shmem others use too, and a jail that left its files would leave 12 KiB at least.
MOST_KIB_PER_CYCLE = 0.5 if LONG else 0.8
MOST_SHMEM_PER_CYCLE = 8
HOLD_NAMESPACES = """
import ctypes, sys
held = []
for _ in range(int(sys.argv[1])):
    assert ctypes.CDLL(None).unshare(0x40000000) == 0  # CLONE_NEWNET
    held.append(open("/proc/self/ns/net"))
print("held", flush=True)
sys.stdin.read()
"""

needs_root()
ends_within(150, 2000)
CONFIG = tempfile.NamedTemporaryFile("w", suffix=".jsonc", prefix="mayfly-cycles-")
# All of them come with one code, which has no more than 20 jails a second unless an operator says so.
json.dump({"access": {"ssh": ["invites"]}, "principals": {"requestsPerSecond": 1000, "burst": 1000}}, CONFIG)
CONFIG.flush()
service = Service("--config", CONFIG.name, open_door=False)
atexit.register(service.stop)
service.get("/api/containment")  # the examination at the start is over
CODE = json.loads(service.mayfly("invite", "--name", "many", "--json", "--state", service.state).stdout)["code"]


def complaints():
    return [line for line in service.log_text().splitlines() if " info " not in line or "ending=failed" in line or "jail.refused" in line][-20:]


def cycle(times):
    """Ten kinds of visits in turn: commands, shells, lost connections, wrong codes, silence. All go as they should."""
    done = subprocess.run([f"{os.environ['MAYFLY_BIN']}/tests/ssh-cycles", str(service.ssh_port), "run", str(times), str(AT_ONCE)],
                          env={"MAYFLY_CODE": CODE}, capture_output=True, text=True, timeout=600)
    kinds = [line.split() for line in done.stdout.splitlines()]
    assert len(kinds) == 10 and all(int(bad) == 0 for _, _, bad in kinds), (done, complaints())
    assert sum(int(good) for _, good, _ in kinds) == times, done


def test_cycles_leave_no_descriptor_process_mount_group_terminal_or_memory():  # B39
    before = warmed_up(service, lambda: cycle(WARM_UP))
    samples = [(0, memory_kib(service))]
    began = time.monotonic()
    for number in range(1, ROUNDS + 1):
        cycle(CYCLES // ROUNDS)
        assert_back_to(service, before)
        samples.append((number * CYCLES // ROUNDS, memory_kib(service)))
    seconds = time.monotonic() - began
    growth = {name: slope([(done, sizes[name]) for done, sizes in samples]) for name in samples[0][1]}
    for name, per_cycle in growth.items():
        print(f"        {name}: {samples[0][1][name]} KiB -> {samples[-1][1][name]} KiB, {per_cycle:+.3f} KiB a cycle")
    for name, pid in core_processes(service).items():
        print(f"        {name}: Pss {pss_kib(pid)} KiB")
    print(f"        {CYCLES} cycles in {seconds:.0f} s, {seconds / CYCLES * 1000:.1f} ms each")
    assert growth.pop("Shmem") < MOST_SHMEM_PER_CYCLE
    assert all(per_cycle < MOST_KIB_PER_CYCLE for per_cycle in growth.values()), growth
    assert "sshd.session_died" not in service.log_text() and "jail.leaked" not in service.log_text()
    # One that was started anew would have begun its memory anew, too.
    assert not re.search(r"keeper\.(process|supervisor)_died", service.log_text()), complaints()


# The control run: what the test above would say if something stayed.
def test_one_connection_that_stays_is_found_and_so_is_a_kibibyte_a_cycle():
    before = settled(service)
    with socket.create_connection(("127.0.0.1", service.ssh_port)) as kept:
        kept.recv(100)
        try:
            assert_back_to(service, before, 1)
            found = ""
        except AssertionError as failure:
            found = str(failure)
        assert "descriptors of mayfly-sshd" in found and "children of mayfly-sshd" in found and "processes" in found, found
    assert_back_to(service, before)
    assert slope([(n * CYCLES // ROUNDS, 5000 + n * CYCLES // ROUNDS + n % 2 * 100) for n in range(ROUNDS + 1)]) > 0.5


# The control run of what is counted of the whole host, on kernels that tell it and on those that do not.
def test_network_namespaces_that_stay_are_found():
    before = settled(service)
    holder = subprocess.Popen([sys.executable, "-c", HOLD_NAMESPACES, str(TOLERANCE["network namespaces of the host"] + 1)],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert holder.stdout.readline() == b"held\n"
        assert "network namespaces of the host" in Inventory(service).growth_since(before)
    finally:
        holder.communicate()  # its input ends, and so does it
    assert_back_to(service, before)


if __name__ == "__main__":
    run_tests(sys.modules[__name__])
