"""`mayfly run` as root and as an ordinary user: exit codes, limits by name, honest controls, nothing left behind."""
import json
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import BIN, cgroups_left, processes_with, run_tests  # noqa: E402

ORDINARY = 65433  # a uid that nothing else uses
USERS = {"root": [], "ordinary": ["/usr/bin/setpriv", f"--reuid={ORDINARY}", f"--regid={ORDINARY}", "--clear-groups", "--inh-caps=-all",
                                  "--bounding-set=-all"]}
if os.geteuid() != 0:
    USERS = {"ordinary": []}
    print("mayfly-skip: the root variant needs root")
HOMES = {}
for name, words in USERS.items():
    home = tempfile.TemporaryDirectory(prefix=f"mayfly-home-{name}-")
    if words:
        os.chown(home.name, ORDINARY, ORDINARY)
    HOMES[name] = home


def run(user, *words, **options):
    home = HOMES[user].name
    environment = {"PATH": "/usr/bin:/bin", "SECRET": "not for jails", "HOME": home}
    if USERS[user]:
        environment["XDG_RUNTIME_DIR"] = home
    return subprocess.run([*USERS[user], f"{BIN}/mayfly", "run", *words], capture_output=True, timeout=120, env=environment, cwd="/",
                          **({"stdin": subprocess.DEVNULL} | options))


def each_user(test):
    def all_users():
        for user in USERS:
            test(user)
        assert not cgroups_left(), cgroups_left()
    all_users.__name__ = test.__name__
    return all_users


@each_user
def test_the_program_s_exit_code_is_ours(user):
    for code in (0, 1, 7, 124, 125, 126, 127, 137, 255):
        done = run(user, "--", "sh", "-c", f"exit {code}")
        assert (done.returncode, done.stdout, done.stderr) == (code, b"", b""), (user, done)


def test_a_host_without_user_namespaces_is_named_at_once_with_the_way_to_change_it():
    # A user namespace of the test's own whose limit is 0: nothing of the host changes.
    script = f"echo 0 > /proc/sys/user/max_user_namespaces; exec {BIN}/mayfly run -- true"
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mayfly-home-") as home:
        done = subprocess.run(["/usr/bin/unshare", "--user", "--map-root-user", "sh", "-c", script], capture_output=True, timeout=60,
                              env={"PATH": "/usr/bin:/bin", "HOME": home, "XDG_RUNTIME_DIR": home})
    assert done.returncode == 125 and b"sudo sysctl -w user.max_user_namespaces=15000" in done.stderr, done
    assert time.monotonic() - begin < 5, "it did not wait for a jail that cannot come"


@each_user
def test_a_signal_is_told_apart_from_a_code(user):
    done = run(user, "--", "sh", "-c", "kill -KILL $$")
    assert done.returncode == 137 and b"ending=signalled signal=SIGKILL" in done.stderr, (user, done)


@each_user
def test_a_missing_and_a_non_executable_program_have_codes_of_their_own(user):
    missing, text = run(user, "--", "no-such-program"), run(user, "--", "/etc/passwd")
    assert (missing.returncode, text.returncode) == (127, 126), (user, missing, text)
    assert b"ending=failed" in missing.stderr


@each_user
def test_stdin_stdout_and_stderr_pass_through(user):
    done = run(user, "--", "sh", "-c", "cat; echo err >&2", stdin=None, input=b"\x00\xffin")
    assert (done.stdout, done.stderr, done.returncode) == (b"\x00\xffin", b"err\n", 0), (user, done)


def test_a_closed_standard_output_is_nobody_s_file():
    # Without care the first file that is opened would become descriptor 1: the lock of the instance.
    command = f"exec {BIN}/mayfly run -- sh -c 'echo written; sleep 1' >&- 2>&- <&-"
    process = subprocess.Popen(["/bin/sh", "-c", command], env={"PATH": "/usr/bin:/bin", "HOME": "/root"})
    seen = set()
    while process.poll() is None:
        for folder in ("/run/mayfly/instances", f"/tmp/mayfly-{os.geteuid()}/instances"):
            for name in os.listdir(folder) if os.path.isdir(folder) else []:
                try:
                    with open(f"{folder}/{name}") as lock:
                        seen.add(lock.read())
                except OSError:
                    continue
        time.sleep(0.02)
    assert process.returncode == 0 and seen and not any("written" in text for text in seen), (process.returncode, seen)


@each_user
def test_the_wall_limit_ends_it_in_about_its_time(user):
    begin = time.monotonic()
    done = run(user, "--time", "1s", "--", "sleep", "60")
    assert done.returncode == 124 and b"ending=time-limit" in done.stderr, (user, done)
    assert 0.9 < time.monotonic() - begin < 6


@each_user
def test_the_environment_holds_four_names_at_most(user):
    done = run(user, "--", "env")
    assert sorted(line.split(b"=")[0] for line in done.stdout.splitlines()) == [b"HOME", b"LANG", b"PATH"], (user, done)


@each_user
def test_controls_are_reported_as_they_are(user):
    answer = json.loads(run(user, "--json", "--", "true").stdout)
    controls = answer["controls"]
    assert controls["network"] == "none" and controls["filesystem"] == "ephemeral" and controls["environment"] == "cleared"
    assert controls["syscalls"] == "seccomp" and controls["privileges"] == "none", controls
    if user == "ordinary":
        assert controls["identity"] == "user-namespace-shared-uid", controls
        if controls["memory"] == "unlimited":
            refused = run(user, "--require", "memory", "--", "echo", "ran")
            assert refused.returncode == 125 and refused.stdout == b"" and b"memory" in refused.stderr, refused
            assert controls["processes"] == "rlimit", controls
    else:
        assert controls["identity"] == "user-namespace", controls


def test_memory_is_told_apart_from_a_plain_kill():
    if "root" not in USERS:
        print("mayfly-skip: needs a memory cgroup, so root")
        return
    done = run("root", "--memory", "64M", "--", "python3", "-c", "x=bytearray(10**9)")
    assert done.returncode == 137 and b"ending=memory-limit" in done.stderr, done


@each_user
def test_a_fork_bomb_ends_as_its_limits_say(user):
    marker = "5772156"
    done = run(user, "--time", "10s", "--json", "--", "sh", "-c", f"(while :; do sleep 60 & done) 2>/dev/null; exec sleep {marker}")
    answer = json.loads(done.stdout)
    assert answer["ending"] == "time-limit" and not processes_with(marker), (user, answer)
    if answer["controls"]["processes"].startswith("cgroup"):
        assert "processes" in answer["limitsReached"], answer


@each_user
def test_a_disk_filler_meets_a_full_disk(user):
    done = run(user, "--json", "--disk", "8M", "--", "sh", "-c", "dd if=/dev/zero of=/tmp/x bs=64k 2>&1 | tail -c 300; true")
    answer = json.loads(done.stdout)
    assert "No space left" in answer["stdout"] and "disk" in answer["limitsReached"], (user, answer)


@each_user
def test_an_output_flood_is_cut_visibly(user):
    answer = json.loads(run(user, "--json", "--time", "20s", "--", "sh", "-c", "yes | head -c 20000000").stdout)
    assert answer["truncated"]["stdout"] and answer["bytes"]["stdout"] == 20000000, (user, answer["bytes"])
    assert answer["tail"]["stdout"].endswith("y\n") and answer["ending"] == "exited"


@each_user
def test_bad_options_name_themselves_and_start_nothing(user):
    for words in (["--memory", "12parsecs"], ["--time", "-1s"], ["--cpus", "nan"], ["--require", "walls"], ["--profile", "root"]):
        done = run(user, *words, "--", "echo", "ran")
        assert done.returncode == 125 and done.stdout == b"" and done.stderr.startswith(b"mayfly: "), (user, words, done)


if __name__ == "__main__":
    run_tests(sys.modules[__name__])
