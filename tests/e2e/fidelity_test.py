"""Fidelity at full size, against the whole service: P30, P31, P33, and P08 for a peer that falls silent."""
import atexit
import http.client
import json
import os
import pty
import signal
import subprocess
import sys
import time
import tty

import paramiko

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../sshd")]
import clients.paramiko_client  # noqa: E402, F401  (it notes exit-signals, which paramiko drops)
from harness import Service, children_of, processes_with, run_tests, sessions_of, wait_until  # noqa: E402

MIB = 1 << 20
HARMLESS = {signal.SIGCHLD, signal.SIGCONT, signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU, signal.SIGURG,
            signal.SIGWINCH}
DEADLY = [number for number in range(1, 32) if number not in HARMLESS] + [34, 64]
# Every mebibyte begins with its number and counts on from there: a block that is lost, doubled or swapped shows.
COUNT_OUT = """
import array, os, sys
rest = memoryview(array.array("Q", range(1 << 17)).tobytes())[8:]
for number in range({count}):
    for piece in (number.to_bytes(8, "little"), rest):
        while piece:
            piece = piece[os.write(1, piece):]
os._exit(7)
"""

service = Service()
atexit.register(lambda: service.process.poll() is None and service.stop())


def mebibyte(number):
    return number.to_bytes(8, "little") + b"".join(n.to_bytes(8, "little") for n in range(1, 1 << 17))


REST = mebibyte(0)[8:]


def read_whole(descriptor, length):
    """Up to `length` bytes, fewer only at the end (which a terminal tells as EIO)."""
    pieces = []
    while length:
        try:
            piece = os.read(descriptor, min(length, MIB))
        except OSError:
            piece = b""
        if not piece:
            break
        pieces.append(piece)
        length -= len(piece)
    return b"".join(pieces)


def expect_counted(descriptor, count):
    for number in range(count):
        block = read_whole(descriptor, MIB)
        assert block[:8] == number.to_bytes(8, "little") and block[8:] == REST, \
            f"mebibyte {number} is wrong: {len(block)} bytes, beginning {block[:32]}"
    assert read_whole(descriptor, 1) == b"", "more than was written"


def test_a_gibibyte_over_ssh_arrives_whole_before_the_status():  # P30
    client = subprocess.Popen(service.ssh_argv("python", COUNT_OUT.format(count=1024)), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE)
    expect_counted(client.stdout.fileno(), 1024)
    assert client.wait(timeout=20) == 7


def test_a_hundred_mebibytes_and_an_immediate_exit_arrive_whole_through_a_terminal():  # P30
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    argv = service.ssh_argv("python", "import os; os.system('stty raw')\n" + COUNT_OUT.format(count=100))
    client = subprocess.Popen([argv[0], "-tt", *argv[1:]], stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL)
    os.close(theirs)
    expect_counted(ours, 100)
    assert client.wait(timeout=20) == 7
    os.close(ours)


def endings_over_ssh(commands):
    """How each command ended, in order: (status, None) or (None, name of a signal). One connection, a jail for each."""
    transport = paramiko.Transport(("127.0.0.1", service.ssh_port))
    try:
        transport.start_client(timeout=20)
        transport.auth_none("run")
        for command in commands:
            channel = transport.open_session(timeout=20)
            channel.exec_command(command)
            status = channel.recv_exit_status()
            yield (None if status == -1 else status), getattr(channel, "mayfly_signal", None)
            channel.close()
    finally:
        transport.close()


def die_of(number):
    return f"import os,signal\nif {number} != 9: signal.signal({number}, signal.SIG_DFL)\nos.kill(os.getpid(), {number}); signal.pause()"


def name_of(number):
    return f"RTMIN+{number - 34}" if number > 34 else "RTMIN" if number == 34 else signal.Signals(number).name[3:]


def test_every_exit_code_arrives_over_ssh():  # P31
    assert list(endings_over_ssh(f"exit {code}" for code in range(256))) == [(code, None) for code in range(256)]


def test_every_signal_arrives_by_name_over_ssh():  # P31
    assert list(endings_over_ssh(f'exec python3 -I -c "{die_of(number)}"' for number in DEADLY)) == \
        [(None, name_of(number)) for number in DEADLY]


def over_http(codes):
    connection = http.client.HTTPConnection("127.0.0.1", service.http_port, timeout=60)
    for code in codes:
        connection.request("POST", "/api/run", json.dumps({"code": code}), {"Content-Type": "application/json"})
        answer = json.loads(connection.getresponse().read())
        yield answer["ending"], answer["exitCode"], answer["signal"]
    connection.close()


def test_every_exit_code_and_signal_arrives_over_http():  # P31
    assert list(over_http(f"import os; os._exit({code})" for code in range(256))) == [("exited", code, None) for code in range(256)]
    assert list(over_http(die_of(number) for number in DEADLY)) == \
        [("signalled", None, "SIG" + name_of(number)) for number in DEADLY]


def ours_of_the_session():
    """The processes of the service that work for the one session that there is: the front end's, and its jail's relay."""
    found, _ = sessions_of(service)
    assert len(found) == 1, found
    relays = [pid for name, pids in children_of(service.helper("mayfly-witness")).items() for pid in pids]
    assert len(relays) >= 1, relays
    return found + relays


def cost_of(pids):
    """(bytes of memory that are theirs alone, seconds of processor time)"""
    memory, ticks = 0, 0
    for pid in pids:
        with open(f"/proc/{pid}/smaps_rollup") as file:
            memory += sum(int(line.split()[1]) << 10 for line in file if line.startswith("Private_"))
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return memory, ticks / os.sysconf("SC_CLK_TCK")


def test_a_reader_that_reads_nothing_costs_no_memory_and_no_processor_time():  # P33
    wait_until(lambda: not service.jails(), 10, "no jail is left")
    client = subprocess.Popen(service.ssh_argv("run", "echo ready; read go; exec head -c 2000000000 /dev/zero"),
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert client.stdout.readline() == b"ready\n"
    ours = ours_of_the_session()
    before = cost_of(ours)
    client.stdin.write(b"go\n")
    client.stdin.flush()
    time.sleep(1)  # until every buffer on the way is full
    full = cost_of(ours)
    time.sleep(2)
    after = cost_of(ours)
    client.kill()
    client.wait()
    print(f"        {(after[0] - before[0]) >> 10} KiB and {after[1] - full[1]:.2f} s in 2 s for a reader that reads nothing")
    assert after[0] - before[0] < MIB, (before, full, after)
    assert after[1] - full[1] <= 0.05, (full, after)


def a_peer_that_falls_silent_ends_its_jail_when_the_keepalive_is_over():  # P08
    marker = "8414709"
    client = subprocess.Popen(service.ssh_argv("run", f"sleep {marker}"), stdin=subprocess.PIPE)
    wait_until(lambda: processes_with(marker), 10, "the program runs")
    client.send_signal(signal.SIGSTOP)
    try:
        time.sleep(30)
        assert processes_with(marker), "a peer is silent for less than the keepalive"
        wait_until(lambda: not processes_with(marker), 35, "the program is gone")
    finally:
        client.kill()
        client.wait()
    assert 'why="peer silent"' in service.log_text()


if os.environ.get("MAYFLY_LONG") == "1":  # it takes the 45 s that it is about
    test_a_silent_peer = a_peer_that_falls_silent_ends_its_jail_when_the_keepalive_is_over

if __name__ == "__main__":
    run_tests(sys.modules[__name__])
