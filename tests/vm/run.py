#!/usr/bin/env python3
"""Runs test executables in a virtual machine with cgroup v2, and fails unless every one of them reports success.

  run.py --kernel vmlinuz (with overlay.ko beside it) --folder SCRATCH --list tests.list --mode root|user --bin FOLDER --left-out NAMES [--data FOLDER ...]

A line of the list: name, "root" or "any", path. In mode user only the tests marked "any" run, as an ordinary user with a
delegated cgroup sub-tree. Along go all programs below FOLDER, but of those whose names stand in the file NAMES only the ones in the list.
Files keep their host paths inside, so that paths compiled into a test stay right.
Exit status 0: all passed. 1: something failed, or is missing from the results. 77: skipped, with the reason.
"""
import argparse
import os
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from initramfs import Initramfs  # noqa: E402

BOOT_SECONDS = 180      # emulated boot takes 5 s on a quiet machine; ten times that on a busy one
TEST_SECONDS = 400      # one executable; emulation is five to ten times slower than the host
SKIPPED = 77


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kernel", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--list", required=True)
    parser.add_argument("--mode", choices=("root", "user"), required=True)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--left-out", required=True)
    parser.add_argument("--data", action="append", default=[])
    parser.add_argument("--append", default="", help="more words for the kernel's command line")
    return parser.parse_args()


def wanted_tests(path, mode):
    with open(path, encoding="utf-8") as lines:
        tests = [line.split() for line in lines if line.strip()]
    return [t for t in tests if mode == "root" or t[1] == "any"]


def programs(folder, left_out):
    """Every executable below the folder whose name is not in the file left_out."""
    with open(left_out, encoding="utf-8") as lines:
        names_left_out = set(lines.read().split())
    for where, _, files in os.walk(folder):
        paths = (os.path.join(where, name) for name in files if name not in names_left_out)
        yield from (path for path in paths if os.access(path, os.X_OK))


def pack(args, tests):
    root = Initramfs(os.path.join(args.folder, "root"))
    root.system()
    here = os.path.dirname(os.path.abspath(__file__))
    shutil.copy(os.path.join(here, "init"), root.inside("/init"))
    os.chmod(root.inside("/init"), 0o755)
    shutil.copy(os.path.join(os.path.dirname(args.kernel), "overlay.ko"), root.inside("/overlay.ko"))
    root.text("/tests.list", "".join(f"{name} {who} {path}\n" for name, who, path in tests))
    # The paths that mayfly_test() gives to each test on the host.
    kept = {name: os.environ[name] for name in ("MAYFLY_BIN", "MAYFLY_SOURCE", "MAYFLY_LONG") if name in os.environ}
    root.text("/tests.env", "".join(f"export {name}='{value}'\n" for name, value in kept.items()))
    for path in [t[2] for t in tests] + list(programs(args.bin, args.left_out)):
        root.file(path, strip=True)
    for folder in args.data:
        root.tree(folder)
    image = os.path.join(args.folder, "initramfs.gz")
    root.pack(image)
    shutil.rmtree(root.folder)
    return image


def boot(args, image, results, deadline):
    """Runs the machine until it powers off; the console goes to our stdout. False when it had to be stopped."""
    words = (f"console=ttyS0 quiet panic=-1 reboot=t random.trust_cpu=on no_timer_check mayfly.mode={args.mode} "
             f"mayfly.seconds={TEST_SECONDS} {args.append}")
    # Emulated everywhere: a nested /dev/kvm may be there and not work, which shows only when the machine stands still.
    command = ["qemu-system-x86_64", "-M", "q35", "-accel", "tcg", "-cpu", "max", "-smp", "2",
               "-m", "1536", "-kernel", args.kernel, "-initrd", image, "-append", words, "-display", "none",
               "-no-reboot", "-nic", "none", "-monitor", "none", "-serial", "stdio", "-serial", "file:" + results]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL) as machine:
        try:
            machine.wait(deadline)
            return True
        except subprocess.TimeoutExpired:
            machine.kill()
            return False


def judge(tests, results):
    """Every complaint about the results; none when each wanted test is there once, with status 0."""
    with open(results, encoding="utf-8", errors="replace") as lines:
        said = [line.split() for line in lines if line.strip()]
    status = {words[1]: words[2] for words in said if words[0] == "VMRESULT" and len(words) == 3}
    complaints = [f"{t[0]}: no result" for t in tests if t[0] not in status]
    complaints += [f"{name}: exit status {value}" for name, value in status.items() if value != "0"]
    if not said or said[-1] != ["VMEND"]:
        complaints.append("the machine did not reach its end")
    return complaints


def main():
    args = arguments()
    module = os.path.join(os.path.dirname(args.kernel), "overlay.ko")
    if shutil.which("qemu-system-x86_64") is None or not os.path.exists(args.kernel) or not os.path.exists(module):
        print("mayfly-skip: needs qemu-system-x86 and the kernel that tests/vm/fetch-kernel fetches")
        return SKIPPED
    tests = wanted_tests(args.list, args.mode)
    if not tests:
        print("no test in the list")
        return 1
    os.makedirs(args.folder, exist_ok=True)
    results = os.path.join(args.folder, "results")
    open(results, "w", encoding="utf-8").close()
    started = time.monotonic()
    image = pack(args, tests)
    print(f"initial ramfs of {os.path.getsize(image) >> 20} MiB packed in {time.monotonic() - started:.1f} s", flush=True)
    ended = boot(args, image, results, BOOT_SECONDS + TEST_SECONDS * len(tests))
    complaints = judge(tests, results) + ([] if ended else ["the machine was stopped after its time"])
    for complaint in complaints:
        print("vm:", complaint)
    print(f"vm: {len(tests)} tests in {time.monotonic() - started:.0f} s, {len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
