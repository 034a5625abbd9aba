"""The whole service as an ordinary user: ssh, HTTP and the monitor, and words that claim no more than this host gives."""
import atexit
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import SSH, Service, cgroups_left, run_tests  # noqa: E402

ORDINARY, STRANGER = 65432, 65431  # uids that nothing else uses


def become(uid):
    return ["/usr/bin/setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"]


AS_ROOT = os.geteuid() == 0
service = Service(become=become(ORDINARY), uid=ORDINARY) if AS_ROOT else Service()
atexit.register(lambda: service.process.poll() is None and service.stop())


def test_ssh_works_also_after_parts_were_made_ahead():
    time.sleep(1)  # quiet: whatever is made in quiet moments is there
    for _ in range(12):  # more than are made ahead
        assert service.ssh("run", "echo ok").stdout == b"ok\n"
    assert service.ssh("python", "print(6*7)").stdout == b"42\n"


def test_many_at_once():
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(service.ssh("run", "sleep 1; echo ok", check=False))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [(done.returncode, done.stdout) for done in answers] == [(0, b"ok\n")] * 8, answers


def test_a_program_inside_passes_descriptors():
    code = ("import os, socket\n"
            "a, b = socket.socketpair()\n"
            "r, w = os.pipe()\n"
            "for _ in range(50): socket.send_fds(a, [b'x'], [r])\n"
            "print(len([socket.recv_fds(b, 1, 1) for _ in range(50)]))\n")
    time.sleep(0.5)
    assert service.post({"code": code})[1]["stdout"] == "50\n"


def test_limits_that_nothing_holds_are_not_claimed():  # P20
    answer = service.post({"code": "print(1)", "limits": {"memoryBytes": 67108864, "cpus": 0.5}})[1]
    held = {"memoryBytes": (answer["controls"]["memory"], 67108864), "cpus": (answer["controls"]["cpu"], 0.5)}
    for limit, (control, asked) in held.items():
        assert answer["limits"][limit] == (None if control == "unlimited" else asked), answer
    seen = subprocess.run([*SSH, "-tt", "-p", str(service.ssh_port), "run@127.0.0.1"], input=b"exit\n", capture_output=True,
                          timeout=60).stdout
    unlimited = answer["controls"]["memory"] == "unlimited"
    assert (b"memory not limited" if unlimited else b"256 MiB memory") in seen, seen


def test_a_reproducible_run_lists_its_constants():  # P04
    answer = service.post({"code": "import os; print(os.environ.get('PYTHONHASHSEED'))", "reproducible": True})[1]
    assert answer["stdout"] == "0\n" and "PYTHONHASHSEED=0" in answer["environment"], answer
    assert sorted(entry.split("=")[0] for entry in service.post({"code": "1"})[1]["environment"]) == ["HOME", "LANG", "PATH"]


def test_somebody_elses_socket_does_not_speak_for_our_service():
    if not AS_ROOT:
        print("mayfly-skip: needs root, for a second user")
        return
    folder = tempfile.mkdtemp(prefix="mayfly-stranger-")
    try:
        os.makedirs(f"{folder}/run")
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            listener.bind(f"{folder}/run/monitor.sock")
            for path in (folder, f"{folder}/run", f"{folder}/run/monitor.sock"):
                os.chmod(path, 0o777)
            child = os.fork()
            if child == 0:  # who listens is whoever called listen(2)
                os.setuid(STRANGER)
                listener.listen(4)
                os._exit(0)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
            done = service.mayfly("ps", "--state", folder)
            assert done.returncode != 0 and f"uid {STRANGER} listens there".encode() in done.stderr, done
    finally:
        shutil.rmtree(folder)


def test_nothing_is_left():
    assert json.loads(service.mayfly("status", "--json", "--state", service.state).stdout)["leaks"] == 0
    service.stop()
    assert not cgroups_left(), cgroups_left()


if __name__ == "__main__":
    run_tests(sys.modules[__name__])
