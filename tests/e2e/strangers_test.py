"""P42: with the whole service running, peers that never log in do not keep others out, and jails that are there go on."""
import os
import re
import select
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import SSH, Service, run_tests, wait_until  # noqa: E402

LOGIN_LIMIT = 2.0
GRACE = 20
REFUSED = b"Too many connections from your address\r\n"


def from_source(service, source, word):
    return [*SSH, "-b", source, "-p", str(service.ssh_port), "run@127.0.0.1", word]


def login_seconds(service, source):
    """Of the quickest of three: other tests may use this machine too."""
    best = 60.0
    for _ in range(3):
        begin = time.monotonic()
        done = subprocess.run(from_source(service, source, "echo in"), stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        if done.stdout == b"in\n":
            best = min(best, time.monotonic() - begin)
    return best


def answers(ssh):
    os.write(ssh.stdin.fileno(), b"there?\n")
    return bool(select.select([ssh.stdout], [], [], 20)[0]) and os.read(ssh.stdout.fileno(), 100) == b"there?\n"


def half_open(service, source):
    """The connection once it is greeted, or None when it was refused."""
    peer = socket.create_connection(("127.0.0.1", service.ssh_port), timeout=20, source_address=(source, 0))
    try:
        if peer.recv(255).startswith(b"SSH-2.0-"):
            return peer
    except ConnectionResetError:
        pass
    peer.close()
    return None


def test_a_flood_of_one_source_delays_no_other_and_ends_no_jail():
    service = Service()
    try:
        friend = subprocess.Popen(from_source(service, "127.0.0.9", "cat"), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert answers(friend)
        flood = [half_open(service, "127.0.0.9") for _ in range(80)]
        assert sum(1 for peer in flood if peer) == 64
        assert login_seconds(service, "127.0.0.1") < LOGIN_LIMIT
        assert answers(friend)
        assert service.post({"code": "print(1)"})[1]["stdout"] == "1\n"
        for peer in flood:
            if peer:
                peer.close()
        wait_until(lambda: login_seconds(service, "127.0.0.9") < LOGIN_LIMIT, 60, "its places are free again")
        assert answers(friend)
        friend.kill()
        friend.communicate()
        service.process.terminate()
        assert service.process.wait(timeout=12) == 0
        summary = [line for line in service.log_text().splitlines() if "sshd.summary" in line]
        assert len(summary) == 1, summary
        # Its own later logins may have come before all of these were gone.
        assert int(re.search(" too-many-from-source=([0-9]+) ", summary[0]).group(1)) >= 16, summary
        service.folder.cleanup()
    finally:
        if service.process.poll() is None:
            service.stop()


def all_that_comes(peer, until):
    """To the end of the connection, which has to come by then."""
    text = b""
    while True:
        peer.settimeout(max(until - time.monotonic(), 0.01))
        part = peer.recv(65536)
        if not part:
            peer.close()
            return text
        text += part


def test_400_that_are_held_without_a_login_are_cut_with_a_reason_while_another_source_logs_in():
    service = Service()
    try:
        began = time.monotonic()
        peers = [socket.create_connection(("127.0.0.1", service.ssh_port), timeout=20, source_address=("127.0.0.9", 0)) for _ in range(400)]
        greetings = [peer.recv(len(REFUSED)) for peer in peers]
        held = [peer for peer, greeting in zip(peers, greetings) if greeting.startswith(b"SSH-2.0-")]
        assert len(held) == 64 and greetings.count(REFUSED) == 336, greetings
        assert login_seconds(service, "127.0.0.1") < LOGIN_LIMIT
        for peer in peers:
            if peer not in held:
                assert all_that_comes(peer, time.monotonic() + 1) == b""  # nothing more, and closed
        assert login_seconds(service, "127.0.0.1") < LOGIN_LIMIT
        assert time.monotonic() - began < GRACE, "they were not held while others came"
        for peer in held:
            assert b"login took too long" in all_that_comes(peer, began + GRACE + 10)
        assert login_seconds(service, "127.0.0.9") < LOGIN_LIMIT
        service.end()
        log = service.log_text()
        assert len(re.findall(r'sshd.closed peer=127.0.0.9:\d+ why="login took too long"', log)) == 64, log
        told = [int(count) for count in re.findall(r"warning sshd.dropped count=\d+ .*too-many-from-source=(\d+) .*source=127.0.0.9", log)]
        assert sum(told) == 336 and len(told) < 20, told
        service.folder.cleanup()
    finally:
        if service.process.poll() is None:
            service.stop()


if __name__ == "__main__":
    run_tests(sys.modules[__name__])
