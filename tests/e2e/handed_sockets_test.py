"""`mayfly serve` with listening sockets from whoever started it: sd_listen_fds(3)."""
import os
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import BIN, Service, children_of, run_tests  # noqa: E402

# Plays the service manager: takes the address of --ssh, so that the service could not listen there itself.
HAND_IN = """
import os, socket, sys
host, port = sys.argv[sys.argv.index("--ssh") + 1].split(":")
name, listens = os.environ.pop("HANDED_NAME"), os.environ.pop("HANDED_LISTENS")
made = socket.socket()
made.bind((host, int(port)))
if listens == "yes":
    made.listen(128)
os.dup2(made.fileno(), 3)
os.set_inheritable(3, True)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1", LISTEN_FDNAMES=name)
os.execv(sys.argv[1], sys.argv[1:])
"""
MANAGER = [sys.executable, "-c", HAND_IN]


def listening_socket(port):
    """As /proc/PID/fd shows it."""
    with open("/proc/net/tcp") as table:
        rows = [line.split() for line in table.readlines()[1:]]
    inode = next(row[9] for row in rows if row[1].endswith(":%04X" % port) and row[3] == "0A")
    return "socket:[%s]" % inode


def has(pid, what):
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            if os.readlink(f"/proc/{pid}/fd/{fd}") == what:
                return True
        except FileNotFoundError:
            continue  # closed meanwhile
    return False


def test_a_socket_that_is_handed_in_is_served_and_goes_to_its_front_end_only():
    os.environ.update(HANDED_NAME="ssh", HANDED_LISTENS="yes")
    service = Service(become=MANAGER)
    try:
        assert service.ssh("run", "echo in").stdout == b"in\n"
        assert service.ssh("run", "env").stdout.find(b"LISTEN_") < 0
        listening = listening_socket(service.ssh_port)
        holding = [name for name, pids in children_of(service.process.pid).items() if any(has(pid, listening) for pid in pids)]
        assert holding == ["mayfly-sshd"], holding
        assert has(service.process.pid, listening)
    finally:
        service.stop()


def refused(name, listens):
    environment = dict(os.environ, HANDED_NAME=name, HANDED_LISTENS=listens)
    with tempfile.TemporaryDirectory(prefix="mayfly-e2e-") as folder:
        done = subprocess.run([*MANAGER, f"{BIN}/mayfly", "serve", "--state", folder + "/state", "--ssh", "127.0.0.1:0", "--http", "off"],
                              capture_output=True, timeout=30, env=environment)
    assert done.returncode == 1, done
    return done.stderr.decode()


def test_what_cannot_be_used_refuses_the_start_and_says_why():
    assert "does not listen" in refused("ssh", "no")
    assert '"mayfly-ssh.socket"' in refused("mayfly-ssh.socket", "yes")
    assert "http is off" in refused("http", "yes")


if __name__ == "__main__":
    run_tests(sys.modules[__name__])
