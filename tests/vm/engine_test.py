#!/usr/bin/env python3
"""P23: the whole engine by `mayfly run` on a host with cgroup v2: as root, and as an ordinary user with a delegated group."""
import json
import os
import socket
import subprocess
import tempfile
import unittest

MAYFLY = os.path.join(os.environ["MAYFLY_BIN"], "mayfly")
PATIENCE = 120
FORK = "import os,time\ntry:\n    while True:\n        if os.fork() == 0: time.sleep(60); os._exit(0)\nexcept OSError: pass"

REACH = """
import errno, socket
print(open("file").read(), open("/data/file").read(), end=" ")
try:
    socket.socket(socket.AF_UNIX).connect("/data/socket")
    print("connected")
except OSError as error:
    print(errno.errorcode[error.errno])
"""


def own_group():
    with open("/proc/self/cgroup", encoding="utf-8") as lines:
        return "/sys/fs/cgroup" + lines.read().strip().split(":", 2)[2].rstrip("/")


class Scopes:
    """What `systemd-run --user --scope -p Delegate=yes` does: a group for each mayfly, in which it stands alone."""

    def __init__(self, base):
        self.base, self.made = base, 0
        self.delegated = os.geteuid() != 0
        if self.delegated:
            os.mkdir(base + "/session")
            self.enter("session")
            with open(base + "/cgroup.subtree_control", "w", encoding="utf-8") as control:
                control.write("+memory +pids +cpu")

    def enter(self, name):
        with open(f"{self.base}/{name}/cgroup.procs", "w", encoding="utf-8") as procs:
            procs.write("0")

    def enter_new(self):
        """Runs in the child, before it becomes mayfly."""
        if self.delegated:
            name = f"scope-{os.getpid()}"
            os.mkdir(f"{self.base}/{name}")
            self.enter(name)


SCOPES = Scopes(own_group())


def result(command, *options):
    done = subprocess.run([MAYFLY, "run", "--json", *options, "--", *command], capture_output=True, timeout=PATIENCE,
                          check=False, preexec_fn=SCOPES.enter_new)
    try:
        return json.loads(done.stdout)
    except ValueError:
        raise AssertionError(f"no result: {done.returncode} {done.stderr.decode()}") from None


def our_groups():
    """Every control group of jails below the group that this test began in. Not the leaf in which an engine itself stood: it
    goes with the scope that was delegated to it, or by the next start."""
    return [os.path.join(folder, name) for folder, names, _ in os.walk(SCOPES.base) for name in names
            if name.startswith("mayfly-") and not name.startswith("mayfly-host-")]


class EngineOnVersion2(unittest.TestCase):
    def test_every_cgroup_control_is_there(self):
        controls = result(["true"], "--require", "memory,cpu,processes")["controls"]
        for name in ("memory", "cpu", "processes"):
            self.assertEqual(controls[name], "cgroup-v2", name)

    def test_one_engine_after_another_gets_every_control(self):
        for _ in range(15):  # short-lived processes of an engine that starts must not pass for somebody else's
            done = result(["true"], "--require", "memory,cpu,processes")
            self.assertEqual(done["ending"], "exited", done)

    def test_memory_stops_at_its_limit(self):
        hog = result(["python3", "-I", "-c", "b = bytearray(200 << 20); print(len(b))"], "--memory", "64M")
        self.assertEqual(hog["ending"], "memory-limit", hog)
        self.assertIn("memory", hog["limitsReached"])

    def test_processes_stop_at_their_limit(self):
        bomb = result(["python3", "-I", "-c", FORK], "--processes", "16", "--time", "60s")
        self.assertEqual(bomb["ending"], "exited", bomb)
        self.assertIn("processes", bomb["limitsReached"])

    def test_time_stops_at_its_limit_and_everything_dies(self):
        self.assertEqual(result(["sh", "-c", "sleep 1000 & while :; do :; done"], "--time", "3s")["ending"], "time-limit")

    def test_the_use_is_measured(self):
        metrics = result(["python3", "-I", "-c", "b = bytearray(32 << 20); print(sum(range(1000000)))"])["metrics"]
        self.assertGreater(metrics["cpuMs"], 1)
        self.assertGreater(metrics["memoryPeakBytes"], 32 << 20)
        self.assertGreaterEqual(metrics["processesPeak"], 2)

    def test_a_folder_is_shown_and_a_socket_in_it_leads_nowhere(self):
        """On this older kernel, which has overlayfs as a module, and for an ordinary user too."""
        with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listening:
            os.chmod(folder, 0o755)
            for name in ("seed", "data"):
                os.mkdir(f"{folder}/{name}")
                with open(f"{folder}/{name}/file", "w", encoding="utf-8") as file:
                    file.write(name)
            listening.bind(f"{folder}/data/socket")
            os.chmod(f"{folder}/data/socket", 0o777)
            listening.listen()
            with open(f"{folder}/mayfly.jsonc", "w", encoding="utf-8") as file:
                json.dump({"profiles": {"class": {"shell": ["/bin/sh"], "seed": f"{folder}/seed", "readonly": f"{folder}/data"}}}, file)
            done = result(["python3", "-I", "-c", REACH], "--config", f"{folder}/mayfly.jsonc", "--profile", "class")
            self.assertEqual((done["stdout"], done["folders"]), ("seed data ECONNREFUSED\n", ["seed", "readonly"]), done)
            with socket.socket(socket.AF_UNIX) as outside:
                outside.connect(f"{folder}/data/socket")

    def test_no_control_group_is_left(self):
        result(["true"])
        self.assertEqual(our_groups(), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
