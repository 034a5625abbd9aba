"""`mayfly run` and `mayfly shell` on a terminal and in pipes: bytes, sizes, keys, signals, and a terminal left as it was."""
import fcntl
import hashlib
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e"))
from harness import BIN, run_tests, wait_until  # noqa: E402

MAYFLY = f"{BIN}/mayfly"


class Terminal:
    """A command on a terminal of its own, 100 columns by 30 rows; `keeper` holds the slave side open to look at it later."""

    def __init__(self, *words):
        self.master, self.keeper = pty.openpty()
        self.resize(30, 100)
        self.before = termios.tcgetattr(self.keeper)
        self.seen = b""
        self.process = subprocess.Popen([MAYFLY, *words], stdin=self.keeper, stdout=self.keeper, stderr=self.keeper,
                                        start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
                                        env={"TERM": "xterm", "HOME": "/", "PATH": "/usr/bin:/bin"})

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self):
        while select.select([self.master], [], [], 0)[0]:
            self.seen += os.read(self.master, 65536)
        return self.seen

    def await_text(self, text):
        wait_until(lambda: text in self.read(), 30, f"{text!r} is on the terminal, which shows {self.seen!r}")

    def type(self, text):
        os.write(self.master, text)

    def is_raw(self):
        return not termios.tcgetattr(self.keeper)[3] & termios.ICANON

    def finish(self):
        try:
            status = wait_until(lambda: self.read() is not None and self.process.poll() is not None, 30, "the command ends")
            assert status
            assert termios.tcgetattr(self.keeper) == self.before, "the terminal is not as it was"
            self.read()
            return self.process.returncode
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
            os.close(self.master)
            os.close(self.keeper)


def start(*words, **options):
    return subprocess.Popen([MAYFLY, "run", *words], stdin=options.pop("stdin", subprocess.DEVNULL), stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, **options)


def start_saying(text, command, trap="true"):
    """A run whose program has said `text`: it is running, and its trap is set."""
    process = start("--", "sh", "-c", f"{trap}; echo {text}; {command}")
    assert process.stdout.readline() == text.encode() + b"\n"
    return process


def test_a_shell_has_a_terminal_follows_its_size_and_exits_as_it_did():
    terminal = Terminal("shell")
    terminal.await_text(b"$ ")
    assert terminal.is_raw()
    terminal.type(b"stty size\n")
    terminal.await_text(b"30 100\r\n")
    terminal.resize(50, 132)
    time.sleep(0.5)
    terminal.type(b"stty size\n")
    terminal.await_text(b"50 132\r\n")
    terminal.type(b"exit 7\n")
    assert terminal.finish() == 7


def test_the_interrupt_key_is_for_the_program_inside():
    terminal = Terminal("shell")
    terminal.await_text(b"$ ")
    terminal.type(b"sleep 600\n")
    time.sleep(0.5)
    terminal.type(b"\x03")
    terminal.type(b"echo al''ive\n")
    terminal.await_text(b"alive")
    terminal.type(b"\x04")
    assert terminal.finish() in (0, 130)


def test_a_signal_from_outside_leaves_the_terminal_as_it_was():
    terminal = Terminal("run", "--tty", "--", "sh", "-c", "echo ready; sleep 600")
    terminal.await_text(b"ready")
    assert terminal.is_raw()
    terminal.process.send_signal(signal.SIGTERM)
    assert terminal.finish() == 125
    assert b"mayfly: ending=cancelled jail=j_" in terminal.seen
    assert terminal.seen.count(b"ending=") == 1


def test_a_stopped_command_gives_the_terminal_back_for_a_while():
    terminal = Terminal("shell")
    terminal.await_text(b"$ ")
    terminal.process.send_signal(signal.SIGTSTP)
    wait_until(lambda: not terminal.is_raw(), 10, "the terminal is as it was")
    terminal.process.send_signal(signal.SIGCONT)
    wait_until(terminal.is_raw, 10, "the terminal is raw again")
    terminal.type(b"exit\n")
    assert terminal.finish() == 0


def test_without_tty_on_a_terminal_the_interrupt_key_ends_the_program():
    terminal = Terminal("run", "--", "sh", "-c", "echo ready; exec sleep 600")
    terminal.await_text(b"ready")
    assert not terminal.is_raw()
    terminal.type(b"\x03")
    assert terminal.finish() == 130
    assert terminal.seen.count(b"mayfly: ending=signalled signal=SIGINT") == 1


def test_signals_go_to_the_program_and_the_second_one_cancels():
    process = start_saying("ready", "sleep 2 & wait; wait; exit 5", trap="trap 'echo usr1' USR1")
    process.send_signal(signal.SIGUSR1)
    out, _ = process.communicate(timeout=30)
    assert (process.returncode, out) == (5, b"usr1\n")
    process = start_saying("ready", "sleep 600", trap="trap '' TERM")
    process.send_signal(signal.SIGTERM)
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 125 and err.count(b"mayfly: ending=cancelled") == 1, err


def test_a_hang_up_ends_the_run():
    process = start_saying("ready", "sleep 600")
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=30)
    assert process.returncode == 125


def test_bytes_pass_exactly_both_ways():
    data = os.urandom(20_000_000)
    done = subprocess.run([MAYFLY, "run", "--", "cat"], input=data, capture_output=True, timeout=60)
    assert done.returncode == 0 and done.stderr == b""
    assert hashlib.sha256(done.stdout).digest() == hashlib.sha256(data).digest()


def test_a_program_that_does_not_read_stdin_hangs_nothing():
    read, write = os.pipe()
    process = start("--", "sh", "-c", "exit 4", stdin=read)
    os.close(read)
    assert process.wait(timeout=30) == 4  # our end of its stdin is still open
    os.close(write)


def test_a_slow_reader_holds_the_program_back_and_costs_no_memory():
    process = start("--", "sh", "-c", "head -c 50000000 /dev/zero")
    time.sleep(2)
    with open(f"/proc/{process.pid}/status") as file:
        resident = int(next(line for line in file if line.startswith("VmRSS")).split()[1])
    assert resident < 32_000, f"{resident} KiB"
    out, _ = process.communicate(timeout=60)
    assert len(out) == 50_000_000 and process.returncode == 0


def test_a_reader_that_has_seen_enough_ends_it_quietly():
    process = start("--", "yes")
    assert process.stdout.readline() == b"y\n"
    process.stdout.close()
    assert process.wait(timeout=30) == 128 + signal.SIGPIPE
    assert process.stderr.read() == b""


def test_streams_that_are_closed_are_no_obstacle():
    done = subprocess.run(["/bin/sh", "-c", f"exec {MAYFLY} run -- sh -c 'cat; exit 9' <&-"], capture_output=True, timeout=60)
    assert done.returncode == 9


def test_the_reason_is_said_once_whatever_the_ending():
    for words, status, ending in ((["--time", "0.5", "--", "sleep", "9"], 124, b"time-limit"),
                                  (["--", "sh", "-c", "kill -SEGV $$"], 139, b"signalled signal=SIGSEGV"),
                                  (["--memory", "1", "--", "true"], 125, b"refused"), (["--", "/nonexistent"], 127, b"failed")):
        process = start(*words)
        _, err = process.communicate(timeout=60)
        assert process.returncode == status, (words, err)
        assert err.count(b"mayfly: ending=" + ending) == 1 and err.count(b"ending=") == 1, err


def test_a_killed_command_leaves_nothing_behind():
    process = start_saying("ready", "exec sleep 2718281")
    process.kill()
    process.wait()
    gone = lambda: subprocess.run(["pgrep", "-f", "^sleep 2718281$"], capture_output=True).returncode == 1  # noqa: E731
    wait_until(gone, 3, "the program is dead")


if __name__ == "__main__":
    run_tests(sys.modules[__name__])
