"""What the end-to-end tests share: a service of their own, stock clients, a look at what is left on the host."""
import atexit
import ctypes
import fcntl
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback


def reachable(folder):
    """`folder`, or a copy of it where every uid may go: as root, front ends run under uids that own nothing."""
    path = os.path.abspath(folder)
    while os.geteuid() == 0 and path != "/":
        if os.stat(path).st_mode & 0o001 == 0:
            copy = tempfile.mkdtemp(prefix="mayfly-programs-")
            atexit.register(shutil.rmtree, copy, True)
            os.chmod(copy, 0o755)
            for name in os.listdir(folder):
                if os.path.isfile(f"{folder}/{name}"):
                    shutil.copy2(f"{folder}/{name}", copy)
            return copy
        path = os.path.dirname(path)
    return folder


BIN = reachable(os.environ["MAYFLY_BIN"])
SSH = ["/usr/bin/ssh", "-F", "none", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o",
       "LogLevel=ERROR", "-o", "PubkeyAuthentication=no", "-o", "BatchMode=yes", "-o", "ConnectTimeout=20"]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until(what, seconds, why):
    """Polls until what() is true; its last value. Fails the test after `seconds`."""
    end = time.monotonic() + seconds
    while True:
        value = what()
        if value:
            return value
        assert time.monotonic() < end, f"not within {seconds} s: {why}"
        time.sleep(0.02)


def processes_with(marker):
    """Host pids whose command line holds `marker`: programs of jails are seen from the host."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) != os.getpid():
            try:
                with open(f"/proc/{entry}/cmdline", "rb") as file:
                    words = file.read().split(b"\0")
            except OSError:
                continue
            # A program of a jail, not the client that asked for it.
            if any(word.decode(errors="replace") == marker for word in words) and b"ssh" not in words[0]:
                found.append(int(entry))
    return found


def children_of(pid):
    """{program name: [pids]} of the direct children."""
    found = {}
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/children") as file:
            for child in file.read().split():
                try:
                    with open(f"/proc/{child}/cmdline") as command:
                        name = os.path.basename(command.read().split("\0")[0])
                except OSError:
                    continue
                found.setdefault(name, []).append(int(child))
    return found


SPARE_SESSIONS = 4  # as many wait for a peer after a while of quiet: sshd/spare_sessions.h


def sessions_of(service):
    """Pids of mayfly-sshd's processes: those that serve somebody, and those that wait for somebody."""
    serving, spare = [], []
    for pids in children_of(service.helper("mayfly-sshd")).values():
        for pid in pids:
            try:
                with open(f"/proc/{pid}/comm") as file:
                    name = file.read().strip()
            except OSError:
                continue
            serving += [pid] if name == "mayfly-session" else []
            spare += [pid] if name == "mayfly-spare" else []
    return serving, spare


def is_live(instance):
    """Whether an engine holds the lock of this instance: then its groups are somebody else's, and in use."""
    for folder in ("/run/mayfly/instances", f"/run/user/{os.geteuid()}/mayfly/instances"):
        try:
            with open(f"{folder}/{instance}.lock") as lock:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except FileNotFoundError:
            continue
        except OSError:
            return True
    return False


def cgroups_of(instance="[0-9a-f]{12}"):
    found = []
    for root, folders, _ in os.walk("/sys/fs/cgroup"):
        found += [os.path.join(root, folder) for folder in folders if re.fullmatch("mayfly-" + instance, folder)]
    return found


def cgroups_left():
    """Groups of ours that no live engine holds."""
    return [group for group in cgroups_of() if not is_live(group.rsplit("mayfly-", 1)[1])]


def ends_with_us():
    """In the child, before exec: when this script is killed (its time was over), the service is told to stop."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGTERM)


class Service:
    """`mayfly serve` on loopback ports of its own, with a state directory of its own."""

    def __init__(self, *options, become=(), uid=None, open_door=True):
        self.folder = tempfile.TemporaryDirectory(prefix="mayfly-e2e-")
        self.become = list(become)
        self.environment = dict(os.environ)
        if uid is not None:
            os.chown(self.folder.name, uid, uid)
            self.environment = {"PATH": "/usr/bin:/bin", "HOME": self.folder.name, "XDG_RUNTIME_DIR": self.folder.name}
        self.state = f"{self.folder.name}/state"
        self.ssh_port, self.http_port = free_port(), free_port()
        self.log_path = f"{self.folder.name}/log"
        self.log = open(self.log_path, "w")
        self.options = list(options)
        self.open_door = open_door  # anybody may come in over SSH: that it answers is part of being ready
        self.begin()

    def begin(self):
        self.process = subprocess.Popen([*self.become, f"{BIN}/mayfly", "serve", "--state", self.state, "--ssh", f"127.0.0.1:{self.ssh_port}",
                                         "--http", f"127.0.0.1:{self.http_port}", *self.options], stdout=self.log, stderr=self.log,
                                        preexec_fn=ends_with_us, env=self.environment)
        self.await_ready(30)

    def await_ready(self, seconds):
        def healthy():
            assert self.process.poll() is None, f"the service ended: {self.log_text()}"
            try:
                is_up = self.get("/healthz")[0] == 200
                return is_up and (not self.open_door or self.ssh("run", "echo up", check=False).stdout == b"up\n")
            except (OSError, http.client.HTTPException):
                return False
        wait_until(healthy, seconds, f"the service is ready\n{self.log_text()}")

    def instance(self):
        return re.search(r"instance=([0-9a-f]{12})", self.log_text()).group(1)

    def log_text(self):
        with open(self.log_path) as file:
            return file.read()

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=12)

    def stop(self):
        self.end()
        self.folder.cleanup()

    def helper(self, name):
        return wait_until(lambda: children_of(self.process.pid).get(name), 5, f"{name} runs")[0]

    def mayfly(self, *words, **options):
        return subprocess.run([*self.become, f"{BIN}/mayfly", *words], capture_output=True, timeout=60, env=self.environment, **options)

    def jails(self):
        answer = self.mayfly("ps", "--json", "--state", self.state)
        assert answer.returncode == 0, answer.stderr
        rows = json.loads(answer.stdout)
        rows = rows["jails"] if isinstance(rows, dict) else rows
        return [row for row in rows if row["origin"] != "cli"]  # without those that the service examines after its start

    def ssh_argv(self, user, *words):
        return [*SSH, "-p", str(self.ssh_port), f"{user}@127.0.0.1", *words]

    def ssh(self, user, *words, check=True, **options):
        done = subprocess.run(self.ssh_argv(user, *words), capture_output=True, timeout=90,
                              **{"stdin": subprocess.DEVNULL} | options)
        if check:
            assert done.returncode == 0, (words, done)
        return done

    def request(self, method, path, body=None, headers=None, timeout=90):
        connection = http.client.HTTPConnection("127.0.0.1", self.http_port, timeout=timeout)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def get(self, path):
        status, headers, body = self.request("GET", path)
        return status, json.loads(body)

    def post(self, body, **headers):
        text = body if isinstance(body, (str, bytes)) else json.dumps(body)
        status, _, answer = self.request("POST", "/api/run", text, {"Content-Type": "application/json"} | headers)
        return status, json.loads(answer)

    def post_in_background(self, body):
        """A raw socket with the request on it; closing it is the peer's disappearance."""
        text = json.dumps(body).encode()
        peer = socket.create_connection(("127.0.0.1", self.http_port))
        peer.sendall(b"POST /api/run HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
                     str(len(text)).encode() + b"\r\n\r\n" + text)
        return peer


def ends_within(short, long):
    """The script fails after `short` seconds, `long` with MAYFLY_LONG: ctest has one TIMEOUT for both."""
    def give_up(*_):
        raise AssertionError("the time of this test is over")
    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(long if "MAYFLY_LONG" in os.environ else short)


def run_tests(module):
    """Runs every function of the module whose name begins with test_, in order; exits 1 when one has failed."""
    wanted = sys.argv[1:]
    failed = []
    tests = [(name, what) for name, what in vars(module).items() if name.startswith("test_") and callable(what)]
    tests = [(name, what) for name, what in tests if not wanted or any(re.search(word, name) for word in wanted)]
    assert tests, "no tests"
    for name, what in tests:
        begin = time.monotonic()
        try:
            what()
            print(f"ok      {name} ({time.monotonic() - begin:.1f} s)", flush=True)
        except Exception:
            failed.append(name)
            print(f"FAILED  {name}\n{traceback.format_exc()}", flush=True)
    if failed:
        print(f"{len(failed)} of {len(tests)} failed: {', '.join(failed)}")
    sys.exit(1 if failed else 0)
