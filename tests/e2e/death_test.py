"""P09: kill -9 and SIGSTOP of our own processes: no program of a jail runs two seconds later, the next start is clean."""
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import Service, cgroups_left, cgroups_of, children_of, processes_with, run_tests, wait_until  # noqa: E402

MARKER = "1618033"
SPIN = ("import os\nfor i in range(50):\n  if os.fork() == 0:\n    while 1: pass\n"
        f"os.execv('/usr/bin/sleep', ['sleep', '{MARKER}'])\n")
SLEEP = f"import os; os.execv('/usr/bin/sleep', ['sleep', '{MARKER}'])"


def jail_processes(service):
    """Every process of its jails: marked programs, and everything in a cgroup of this service."""
    found = set(processes_with(MARKER))
    for folder in cgroups_of(service.instance()):
        for root, _, files in os.walk(folder):
            if "cgroup.procs" in files:
                try:
                    with open(os.path.join(root, "cgroup.procs")) as file:
                        found |= {int(line) for line in file.read().split()}
                except OSError:
                    continue
    return found


def start_ten(service):
    """Six by the API, two of them with fifty spinning processes on half a processor, and four by ssh."""
    peers = [service.post_in_background({"code": SPIN if i < 2 else SLEEP, "limits": {"cpus": 0.5, "wallMs": 60000}})
             for i in range(6)]
    clients = [subprocess.Popen(service.ssh_argv("run", f"exec sleep {MARKER}"), stdin=subprocess.PIPE, stderr=subprocess.PIPE)
               for _ in range(4)]
    wait_until(lambda: len(processes_with(MARKER)) == 10, 60, "ten jails run")
    return peers, clients


def finish(peers, clients):
    for peer in peers:
        peer.close()
    for client in clients:
        client.kill()
        client.wait()


def test_a_killed_supervisor_takes_every_jail_with_it_and_the_next_start_is_clean():
    service = Service()
    try:
        peers, clients = start_ten(service)
        jails_before = [entry.path for group in cgroups_of(service.instance()) for entry in os.scandir(group)
                        if entry.is_dir() and not entry.name.startswith("ahead-")]
        os.kill(service.helper("mayfly-supervisor"), signal.SIGKILL)
        wait_until(lambda: not jail_processes(service), 2, "every jail is dead")
        finish(peers, clients)
        service.await_ready(20)
        assert not [group for group in jails_before if os.path.exists(group)], "groups of dead jails are left"
        assert service.post({"code": "print(1)"})[1]["stdout"] == "1\n"
    finally:
        service.stop()
    assert not cgroups_left()


def test_a_stopped_supervisor_does_not_stop_the_clock():
    service = Service()
    try:
        service.post({"code": "print(1)"})
        peer = service.post_in_background({"code": SLEEP, "limits": {"wallMs": 2000}})
        wait_until(lambda: processes_with(MARKER), 10, "the program runs")
        supervisor = service.helper("mayfly-supervisor")
        os.kill(supervisor, signal.SIGSTOP)
        try:
            wait_until(lambda: not processes_with(MARKER), 6, "the wall limit holds without the supervisor")
        finally:
            os.kill(supervisor, signal.SIGCONT)
        peer.settimeout(20)
        assert b'"ending":"time-limit"' in peer.recv(65536)
        peer.close()
        assert service.post({"code": "print(1)"})[1]["stdout"] == "1\n"
    finally:
        service.stop()


def test_a_killed_front_end_loses_its_jails_and_no_others():
    service = Service()
    try:
        for mine, start, other in (("mayfly-api", "api", "ssh"), ("mayfly-sshd", "ssh", "api")):
            peers = [service.post_in_background({"code": SLEEP, "limits": {"wallMs": 60000}}) for _ in range(2)]
            clients = [subprocess.Popen(service.ssh_argv("run", f"exec sleep {MARKER}"), stdin=subprocess.PIPE) for _ in range(2)]
            wait_until(lambda: len(processes_with(MARKER)) == 4, 30, "four jails run")
            os.kill(service.helper(mine), signal.SIGKILL)
            wait_until(lambda: {row["origin"] for row in service.jails()} == {other}, 2, f"the jails of {start} are gone")
            time.sleep(1)
            assert len(service.jails()) == 2 and len(processes_with(MARKER)) == 2, "the others go on"
            finish(peers, clients)
            wait_until(lambda: not processes_with(MARKER), 3, "all are gone")
            service.await_ready(20)
    finally:
        service.stop()


def test_a_killed_builder_or_witness_template_leaves_live_jails_alone():
    service = Service()
    try:
        for name in ("mayfly-builder", "mayfly-witness"):
            client = subprocess.Popen(service.ssh_argv("run", f"echo started; read line; echo $line; exec sleep {MARKER}"),
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            assert client.stdout.readline() == b"started\n"
            os.kill(service.helper(name), signal.SIGKILL)
            time.sleep(0.5)
            client.stdin.write(b"alive\n")
            client.stdin.flush()
            assert client.stdout.readline() == b"alive\n"
            service.await_ready(20)
            client.kill()
            client.wait()
            wait_until(lambda: not processes_with(MARKER), 3, "it is gone")
    finally:
        service.stop()


def test_a_killed_examiner_examines_all_the_same():
    service = Service()
    try:
        os.kill(service.helper("mayfly-examiner"), signal.SIGKILL)
        status, answer = service.get("/api/containment")
        assert status == 200 and answer["problems"] == [], answer
    finally:
        service.stop()


def relay_of(service, program):
    """The relay that runs under the same block of uids as `program`, a process of a jail: the init uid is next to the run uid."""
    assert os.geteuid() == 0, "needs root: the relays of one ordinary user cannot be told apart"
    wanted = os.stat(f"/proc/{program}").st_uid - 1
    return next(pid for pids in children_of(service.helper("mayfly-witness")).values() for pid in pids
                if f"Uid:\t{wanted}\t" in open(f"/proc/{pid}/status").read())


def test_a_killed_relay_fails_its_own_jail_alone():
    service = Service()
    try:
        peers = [service.post_in_background({"code": SLEEP, "limits": {"wallMs": 60000}})]
        [victim] = wait_until(lambda: processes_with(MARKER), 10, "the program runs")
        peers.append(service.post_in_background({"code": SLEEP, "limits": {"wallMs": 60000}}))
        wait_until(lambda: len(processes_with(MARKER)) == 2, 10, "both programs run")
        os.kill(relay_of(service, victim), signal.SIGKILL)
        peers[0].settimeout(10)
        assert b'"ending":"failed"' in peers[0].recv(65536)
        wait_until(lambda: len(processes_with(MARKER)) == 1, 2, "its program is gone")
        time.sleep(0.5)
        assert len(processes_with(MARKER)) == 1 and victim not in processes_with(MARKER), "the other goes on"
        finish(peers, [])
        wait_until(lambda: not processes_with(MARKER), 3, "both are gone")
    finally:
        service.stop()


def test_a_killed_keeper_takes_everything_with_it():
    service = Service()
    peers, clients = start_ten(service)
    ours = [pid for pids in children_of(service.process.pid).values() for pid in pids]
    service.process.kill()
    service.process.wait()
    wait_until(lambda: not processes_with(MARKER), 2, "every jail is dead")
    wait_until(lambda: not [pid for pid in ours if os.path.exists(f"/proc/{pid}")], 5, "every process of ours has ended")
    finish(peers, clients)
    service.folder.cleanup()
    # What it left is removed by the next start, whatever its state directory.
    Service().stop()
    assert not cgroups_left(), cgroups_left()


def test_a_service_that_has_to_be_killed_leaves_its_name_to_the_next_start():
    service = Service()
    peers, clients = start_ten(service)
    os.kill(service.helper("mayfly-supervisor"), signal.SIGSTOP)
    service.process.send_signal(signal.SIGTERM)
    time.sleep(1)  # a second request within half a second is taken for the same
    service.process.send_signal(signal.SIGTERM)
    assert service.process.wait(timeout=15) == 1
    assert cgroups_left(), "nothing to clean: this test proves nothing"
    finish(peers, clients)
    service.folder.cleanup()
    Service().stop()
    assert not cgroups_left(), cgroups_left()


def test_a_service_told_to_stop_is_gone_within_ten_seconds_with_its_jails():
    service = Service()
    peers, clients = start_ten(service)
    begin = time.monotonic()
    service.process.send_signal(signal.SIGTERM)
    assert service.process.wait(timeout=12) == 0, service.log_text()
    assert time.monotonic() - begin < 10
    assert not jail_processes(service) and not cgroups_of(service.instance())
    assert b"ending=shutdown" in clients[0].stderr.read()
    finish(peers, clients)
    service.folder.cleanup()


def test_two_services_on_one_state_directory_are_refused():
    service = Service()
    try:
        second = service.mayfly("serve", "--state", service.state, "--ssh", "off", "--http", "off")
        assert second.returncode != 0 and str(service.process.pid).encode() in second.stderr, second
        assert service.post({"code": "print(1)"})[1]["stdout"] == "1\n"
    finally:
        service.stop()


if __name__ == "__main__":
    run_tests(sys.modules[__name__])
