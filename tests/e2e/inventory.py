"""What a service holds at one moment: of each of its processes, of its jails, and of the host for them.

  before = Inventory(service); ...; growth = Inventory(service).growth_since(before)

Counts must be again what they were; memory is a series of samples (`memory_kib`), judged by its slope.
"""
import json
import os
import re
import sys
import time

from harness import cgroups_of, children_of, wait_until

# Of the whole host: other programs may use it too, in minutes more than in seconds, and the kernel counts the free objects of
# a slab as in use. In the long form a leak of one in ten would still be more.
LONG = "MAYFLY_LONG" in os.environ
TOLERANCE = {"terminals of the host": 150 if LONG else 10, "mounts of the host": 0, "network namespaces of the host": 150 if LONG else 10,
             "network namespaces in the kernel": 150 if LONG else 64}

# The supervisor makes more groups ahead, the more it is short of them: up to kGroupsAhead of jail/spec/limits.h. So many
# could be a leak that is not seen; a jail in a hundred that leaves its group is more than that in the long form.
AHEAD, MOST_AHEAD = "ahead-", 64
STILL = 1.5  # seconds


def needs_root():
    """Our processes are not dumpable: nobody else may count their descriptors."""
    if os.geteuid() != 0:
        print("mayfly-skip: needs root, to count the descriptors of processes that are not dumpable")
        sys.exit(77)


def read(path):
    """The file, or "" when it is gone or not for us: processes end while we look."""
    try:
        with open(path) as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return ""


def entries(folder):
    try:
        return os.listdir(folder)
    except OSError:
        return []


def core_processes(service):
    """{name: pid} of the keeper and what it has started, those that stay."""
    found = {name: pids[0] for name, pids in children_of(service.process.pid).items() if name.startswith("mayfly-")}
    return {"mayfly": service.process.pid, **found}


def process_table():
    """{pid: (parent, state)}"""
    table = {}
    for entry in entries("/proc"):
        fields = read(f"/proc/{entry}/stat").rpartition(")")[2].split() if entry.isdigit() else []
        if fields:
            table[int(entry)] = (int(fields[1]), fields[0])
    return table


def descendants(ancestor, table):
    found = {ancestor}
    while True:
        more = {pid for pid, (parent, _) in table.items() if parent in found} - found
        if not more:
            return found
        found |= more


def network_namespaces(pids):
    """Those that these are in or hold: exact, but for what only the kernel holds."""
    seen = set()
    for pid in pids:
        for link in [f"/proc/{pid}/ns/net", *(f"/proc/{pid}/fd/{fd}" for fd in entries(f"/proc/{pid}/fd"))]:
            try:
                target = os.readlink(link)
            except OSError:
                continue
            if target.startswith("net:["):
                seen.add(target)
    return seen


def bound_network_namespaces():
    """Those that a file holds, as `ip netns` does (mountinfo: the root of an nsfs is its name)."""
    return set(re.findall(r"^\d+ \d+ \S+ (net:\[\d+\]) ", read("/proc/self/mountinfo"), re.M))


def network_namespaces_in_kernel():
    """{} where the kernel does not tell: its slab is merged with another one's, or there is no slabinfo."""
    slab = re.search(r"^net_namespace +(\d+)", read("/proc/slabinfo"), re.M)
    return {"network namespaces in the kernel": int(slab.group(1))} if slab else {}


if not network_namespaces_in_kernel():
    print("mayfly-note: this kernel does not tell how many network namespaces it has; those are counted that somebody is in or "
          "holds, and one that only the kernel holds would not be seen")


def anonymous_kib(pid):
    return int((re.search(r"RssAnon:\s+(\d+)", read(f"/proc/{pid}/status")) or [0, 0])[1])


def pss_kib(pid):
    return int((re.search(r"^Pss:\s+(\d+)", read(f"/proc/{pid}/smaps_rollup"), re.M) or [0, 0])[1])


def memory_kib(service):
    """What each process has for itself, and the host's shared memory: tmpfs of jails that were not given back."""
    sizes = {name: anonymous_kib(pid) for name, pid in core_processes(service).items()}
    sizes["Shmem"] = int(re.search(r"^Shmem:\s+(\d+)", read("/proc/meminfo"), re.M).group(1))
    return sizes


def groups_of(service):
    """Control groups below the service's own, in all hierarchies; and the most of those made ahead in one of them."""
    others, ahead = 0, [0]
    for root in cgroups_of(service.instance()):
        names = [name for _, folders, _ in os.walk(root) for name in folders]
        ahead.append(sum(name.startswith(AHEAD) for name in names))
        others += len(names) - ahead[-1]
    return others, max(ahead)


def descriptors_of(pid, groups_ahead):
    """Without those of groups made ahead, as long as the groups are there: their files, and an eventfd for each (cgroup v1)."""
    targets = []
    for fd in entries(f"/proc/{pid}/fd"):
        try:
            targets.append(os.readlink(f"/proc/{pid}/fd/{fd}"))
        except OSError:
            continue
    others = [target for target in targets if f"/{AHEAD}" not in target or target.endswith(" (deleted)")]
    return len(others) - min(others.count("anon_inode:[eventfd]"), groups_ahead)


class Inventory:
    def __init__(self, service):
        table = process_table()
        ours = descendants(service.process.pid, table)
        status = json.loads(service.mayfly("status", "--json", "--state", service.state).stdout)
        of_the_host = network_namespaces(table) | bound_network_namespaces()
        assert of_the_host, "not even our own network namespace is seen"
        groups, ahead = groups_of(service)
        self.counts = {
            "processes": len(ours), "zombies": sum(table.get(pid, (0, ""))[1] == "Z" for pid in ours),
            "cgroups": groups, "groups made ahead beyond their bound": max(ahead - MOST_AHEAD, 0),
            "files of the state": sum(len(files) for _, _, files in os.walk(service.state)),
            "network namespaces": len(network_namespaces(ours)), "network namespaces of the host": len(of_the_host),
            **network_namespaces_in_kernel(),
            "terminals of the host": int(read("/proc/sys/kernel/pty/nr")), "mounts of the host": read("/proc/self/mountinfo").count("\n"),
            **{f"{what} of the supervisor": status[what] for what in ("live", "queued", "unreleased", "leaks", "failed")}}
        for name, pid in core_processes(service).items():
            self.counts[f"descriptors of {name}"] = descriptors_of(pid, ahead if name == "mayfly-supervisor" else 0)
            self.counts[f"threads of {name}"] = len(entries(f"/proc/{pid}/task"))
            self.counts[f"children of {name}"] = sum(parent == pid for parent, _ in table.values())
            self.counts[f"mounts of {name}"] = read(f"/proc/{pid}/mountinfo").count("\n")

    def own(self):
        return {what: count for what, count in self.counts.items() if what not in TOLERANCE}

    def growth_since(self, before):
        """{what: (was, is)} of everything that is more than it was."""
        return {what: (before.counts.get(what, 0), count) for what, count in self.counts.items()
                if count > before.counts.get(what, 0) + TOLERANCE.get(what, 0)}


def settled(service, seconds=30):
    """The inventory of a service that has nothing to do: for a while nothing changes, so its parts made ahead are all there."""
    last, since = Inventory(service), time.monotonic()

    def stays():
        nonlocal last, since
        now = Inventory(service)
        if now.own() != last.own():
            last, since = now, time.monotonic()
        return time.monotonic() - since > STILL and now

    return wait_until(stays, seconds, "the service comes to rest")


def warmed_up(service, exercise, rounds=6):
    """The inventory once `exercise` adds nothing to it any more: the more is asked for, the more is made ahead, up to a bound."""
    last = settled(service)
    for _ in range(rounds):
        exercise()
        now = settled(service)
        growth = now.growth_since(last)
        if not growth:
            return last
        last = now
    raise AssertionError(f"still more after {rounds} rounds: {growth}")


def assert_back_to(service, before, seconds=20):
    """Within `seconds` everything is as it was; the growth stands in the failure."""
    growth = {}

    def is_back():
        nonlocal growth
        growth = Inventory(service).growth_since(before)
        return not growth

    try:
        wait_until(is_back, seconds, "everything is as it was")
    except AssertionError:
        raise AssertionError(f"left after {seconds} s: {growth}") from None


def slope(samples):
    """Least squares over [(x, y)]: how much y grows for each x."""
    count = len(samples)
    middle_x, middle_y = sum(x for x, _ in samples) / count, sum(y for _, y in samples) / count
    return sum((x - middle_x) * (y - middle_y) for x, y in samples) / sum((x - middle_x) ** 2 for x, _ in samples)
