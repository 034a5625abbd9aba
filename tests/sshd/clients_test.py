"""P40: the SSH clients that people use, against the whole service. A client that is missing fails its tests.

Each check runs once for each client with the skills that it takes; clients/ says how each client does it.
Arguments select tests by name: clients_test.py dbclient
"""
import atexit
import functools
import hashlib
import os
import socket
import subprocess
import sys
import threading

import paramiko

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../e2e")]
from harness import (SPARE_SESSIONS, Service, cgroups_left, children_of, processes_with, run_tests, sessions_of,  # noqa: E402
                     wait_until)  # noqa: E402
from clients import all_clients  # noqa: E402
from clients.channel import SECONDS  # noqa: E402
from clients.place import Place  # noqa: E402

MARKER = "2236067"  # the argument of every program here that would go on for ever

service = Service()
atexit.register(lambda: service.process.poll() is None and service.stop())
place = Place(service.ssh_port, service.mayfly("hostkey", "--state", service.state).stdout.decode())
atexit.register(place.close)
clients = all_clients(place)


def each_client(*skills):
    """Makes one test for each client that has these skills; there must be one at least."""
    def spread(check):
        able = [client for client in clients if client.skills.issuperset(skills)]
        assert able, skills
        for client in able:
            globals()[f"test_{client.name}: {check.__name__}"] = functools.partial(check, client)
        return check
    return spread


def sessions():
    """The front end has one process for each connection."""
    return sessions_of(service)[0]


def descriptors():
    wait_until(lambda: len(sessions_of(service)[1]) == SPARE_SESSIONS, SECONDS, "the next peers are prepared for")
    return len(os.listdir(f"/proc/{service.helper('mayfly-sshd')}/fd"))


wait_until(lambda: not sessions(), SECONDS, "the service is quiet")
descriptors_at_first = descriptors()


@each_client()
def stdout_stderr_and_status_are_told_apart(client):
    done = client.start("run", "echo to-out; echo to-err >&2; exit 7").run()
    assert (done.out, done.err, done.status) == (b"to-out\n", b"to-err\n", 7), (done.out, done.err, done.status)


@each_client()
def input_is_binary_exact(client):
    data = os.urandom(1 << 20)
    done = client.start("run", "sha256sum").run(data)
    assert done.out.split()[0].decode() == hashlib.sha256(data).hexdigest(), done.out


@each_client()
def the_end_of_input_is_not_the_end_of_output(client):
    with client.start("run", "echo ready; wc -c; echo later; exit 4") as channel:
        channel.expect(b"ready\n").send(b"abc")
        channel.end_input()
        channel.expect(b"3\nlater\n").wait()
        assert channel.status == 4, channel.status


@each_client()
def eight_mib_of_output_are_exact(client):
    program = "import os,sys,hashlib; data=os.urandom(8<<20); os.write(2,hashlib.sha256(data).digest()); sys.stdout.buffer.write(data)"
    done = client.start("python", program).run()
    assert (len(done.out), done.status) == (8 << 20, 0), (len(done.out), done.status)
    assert hashlib.sha256(done.out).digest() == done.err


@each_client()
def a_program_that_a_signal_ended_is_told_as_the_client_tells_it(client):
    done = client.start("run", "kill -TERM $$").run()
    assert (done.status, done.signalled) == client.killed, (done.status, done.signalled)


@each_client("terminal")
def a_shell_on_a_terminal_takes_commands_and_gives_its_status(client):
    with client.start("run", terminal=(33, 101)) as shell:
        shell.expect(b"also when your connection drops").expect(b"$ ")
        shell.send(b"stty size; echo typ''ed\r")
        shell.expect(b"33 101").expect(b"typed").send(b"exit 3\r")
        assert shell.wait().status == 3, shell.status


@each_client("terminal")
def a_resize_is_seen(client):
    program = "import os,signal; signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGWINCH]); print(os.get_terminal_size(), 'ready'); " \
              "signal.sigwait([signal.SIGWINCH]); print(os.get_terminal_size(), 'done')"
    with client.start("python", program, terminal=(24, 80)) as channel:
        channel.expect(b"columns=80, lines=24) ready")
        channel.resize(55, 222)
        channel.expect(b"columns=222, lines=55) done")
        assert channel.wait().status == 0


@each_client("terminal")
def control_c_ends_the_program_in_the_foreground_and_not_the_shell(client):
    with client.start("run", terminal=(24, 80)) as shell:
        shell.expect(b"$ ").send(f"sh -c 'echo sle''eping; exec sleep {MARKER}'\r".encode())
        shell.expect(b"sleeping")
        wait_until(lambda: processes_with(MARKER), SECONDS, "it sleeps")
        shell.send(b"\x03")
        shell.expect(b"$ ").send(b"echo status-$?\r")
        shell.expect(b"status-130").send(b"exit 0\r")
        assert shell.wait().status == 0
    assert not processes_with(MARKER)


@each_client("signal")
def a_signal_request_ends_the_program_and_is_its_exit_signal(client):
    with client.start("run", f"echo ready; exec sleep {MARKER}") as channel:
        channel.expect(b"ready")
        wait_until(lambda: processes_with(MARKER), SECONDS, "it sleeps")
        channel.signal("TERM")
        channel.wait()
        assert (channel.status, channel.signalled) == client.killed, (channel.status, channel.signalled)


@each_client("channels")
def each_channel_of_one_connection_has_its_own_jail(client):
    before = set(sessions())
    look = "ls /tmp; readlink /proc/self/ns/mnt /proc/self/ns/pid"
    with client.connect("run") as connection, connection.start(f"echo secret > /tmp/{MARKER}; {look}; echo ready; cat; exit 5") as first:
        first.expect(b"ready\n")
        with connection.start(f"{look}; echo ready; cat; exit 6") as second:
            second.expect(b"ready\n")
            file, *places = first.out.decode().split()[:3]
            others = second.out.decode().split()[:2]
            assert file == MARKER and len(set(places + others)) == 4, (first.out, second.out)
            assert len(set(sessions()) - before) == 1 and len(service.jails()) == 2
            first.end_input()
            assert first.wait().status == 5  # and the other goes on
            second.send(b"still here\n")
            second.expect(b"still here\n")
            second.end_input()
            assert second.wait().status == 6


@each_client()
def python_takes_its_source_as_the_command(client):
    done = client.start("python", "import sys; print(6*7, sys.stdin.read()); sys.exit(3)").run(b"input")
    assert (done.out, done.status) == (b"42 input\n", 3), (done.out, done.status)


@each_client()
def python_takes_its_source_from_stdin(client):
    done = client.start("python").run(b"import sys\nprint(40+3)\nsys.exit(4)\n")
    assert (done.out, done.status) == (b"43\n", 4), (done.out, done.status)


@each_client("terminal")
def python_is_interactive_on_a_terminal(client):
    with client.start("python", terminal=(24, 80)) as python:
        python.expect(b">>> ").send(b"print(6*7, 'mark' + 'er')\r")
        python.expect(b"42 marker").expect(b">>> ").send(b"exit(5)\r")
        assert python.wait().status == 5, python.status


@each_client()
def a_name_that_is_no_profile_is_refused(client):
    for _ in range(3):
        assert client.is_refused("nobody")
    assert not client.is_refused("run")


def test_paramiko_as_people_use_it_is_let_in_by_any_password_and_key():
    """Its SSHClient never tries the method none."""
    for proof in ({"password": "x"}, {"pkey": paramiko.ECDSAKey.generate()}):
        with paramiko.SSHClient() as user:
            user.load_host_keys(place.known_hosts)
            user.connect("127.0.0.1", place.port, "run", timeout=SECONDS, look_for_keys=False, allow_agent=False, **proof)
            streams = user.exec_command("echo in; exit 6")
            assert streams[1].read() == b"in\n" and streams[1].channel.recv_exit_status() == 6
            for stream in streams:
                stream.close()


@each_client("subsystem")
def sftp_is_refused(client):
    assert not client.has_subsystem("sftp")


@each_client("subsystem", "channels")
def a_connection_whose_subsystem_was_refused_is_of_use(client):
    with client.connect("run") as connection:
        assert not connection.has_subsystem("sftp")
        assert connection.start("echo in").run().out == b"in\n"


class Target:
    """A listener on the host that says so to whoever reaches it."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.visits = 0
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            peer, _ = self.listener.accept()
            self.visits += 1
            with peer:
                peer.sendall(b"reached")


target = Target()


def test_the_target_of_forwards_can_be_reached_from_outside():
    with socket.create_connection(("127.0.0.1", target.port), timeout=SECONDS) as peer:
        assert peer.recv(100) == b"reached"


@each_client()
def nothing_is_forwarded_and_the_connection_stays_of_use(client):
    visits = target.visits
    with client.start_asking(target.port) as channel:
        channel.expect(b"ready\n")
        environment = bytes(channel.out)
        assert b"HOME=" in environment and b"DISPLAY" not in environment and b"SSH_AUTH_SOCK" not in environment, environment
        assert channel.reach() == b"" and target.visits == visits
        channel.send(b"still here\n")
        channel.expect(b"still here\n").end_input()
        assert channel.wait().status == 0
    assert client.refused(channel) == set(client.told), bytes(channel.err)


def copy(program, *options, name):
    [ssh] = [client for client in clients if client.name == "ssh"]
    words = [*ssh.options(), "-P", str(place.port), *options, place.known_hosts, f"run@127.0.0.1:/tmp/{name}"]
    return subprocess.run([program, *words], env=place.environment, capture_output=True, timeout=SECONDS, stdin=subprocess.DEVNULL)


def test_scp_by_sftp_is_refused_and_the_old_one_copies_into_a_jail_that_ends():
    done = copy("scp", name=MARKER)
    assert done.returncode != 0 and b"subsystem request failed" in done.stderr, done
    done = copy("scp", "-O", name=MARKER)
    assert done.returncode == 0 and not os.path.exists(f"/tmp/{MARKER}"), done


def test_zz_nothing_is_left_behind():
    wait_until(lambda: not sessions() and not service.jails() and not processes_with(MARKER), SECONDS, "all have left")
    assert descriptors() == descriptors_at_first, (descriptors(), descriptors_at_first)
    ours = [pid for pids in children_of(service.process.pid).values() for pid in pids]
    service.stop()
    wait_until(lambda: not [pid for pid in ours if os.path.exists(f"/proc/{pid}")], SECONDS, "every process of ours has ended")
    assert ours and not cgroups_left(), (ours, cgroups_left())


if __name__ == "__main__":
    run_tests(sys.modules[__name__])
