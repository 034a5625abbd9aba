#!/usr/bin/env python3
"""The SSH contract, driven by the stock OpenSSH client.

Against the front end over a fake supervisor: ssh_e2e.py          (MAYFLY_BIN names the folder of the programs)
Against a running service:                    ssh_e2e.py --port 2222
"""
import hashlib
import os
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import client  # noqa: E402
import front_end  # noqa: E402
from client import OPTIONS, Terminal, fake_only, ssh, ssh_argv, until  # noqa: E402


class Exec(unittest.TestCase):
    def test_exit_codes_are_the_programs_own(self):
        for code in (0, 1, 2, 7, 77, 124, 125, 126, 127, 128, 137, 254, 255):
            with self.subTest(code=code):
                self.assertEqual(ssh("exit %d" % code).returncode, code)

    def test_a_signal_of_its_own_is_an_exit_signal_and_no_status(self):
        for name in ("TERM", "KILL", "SEGV", "ABRT", "USR1"):
            with self.subTest(signal=name):
                done = ssh("kill -%s $$" % name, options=["-v", "-o", "LogLevel=DEBUG1"])
                self.assertEqual(done.returncode, 255)
                self.assertIn(b"rtype exit-signal", done.stderr)

    def test_stdout_and_stderr_stay_apart(self):
        done = ssh("echo to-out; echo to-err >&2")
        self.assertEqual((done.stdout, done.stderr), (b"to-out\n", b"to-err\n"))

    def test_stdin_reaches_the_program_and_ends(self):
        self.assertEqual(ssh("cat; echo end", input=b"some bytes\n").stdout, b"some bytes\nend\n")

    def test_a_program_that_reads_no_stdin_hangs_nothing(self):
        done = ssh("exec 0<&-; echo done", input=os.urandom(8 << 20))
        self.assertEqual((done.returncode, done.stdout), (0, b"done\n"))

    def test_output_goes_on_after_the_end_of_input(self):
        self.assertEqual(ssh("wc -c; sleep 0.3; echo later", input=b"abc").stdout.split(), [b"3", b"later"])

    def test_64_mib_of_any_bytes_come_out_exact(self):
        program = "import os,hashlib;d=os.urandom(1<<20)*64;os.write(2,hashlib.sha256(d).hexdigest().encode());" \
                  "o=os.fdopen(1,'wb');o.write(d);o.close()"
        done = ssh(program, user="python", timeout=300)
        self.assertEqual(len(done.stdout), 64 << 20)
        self.assertEqual(hashlib.sha256(done.stdout).hexdigest().encode(), done.stderr)

    def test_64_mib_of_any_bytes_go_in_exact(self):
        data = os.urandom(1 << 20) * 64
        self.assertEqual(ssh("sha256sum", input=data, timeout=300).stdout.split()[0].decode(), hashlib.sha256(data).hexdigest())

    def test_both_ways_at_once_are_exact(self):
        data = os.urandom(16 << 20)
        self.assertTrue(ssh("cat", input=data, timeout=300).stdout == data)

    def test_bytes_survive_keys_that_are_exchanged_anew(self):  # B15
        data = os.urandom(1 << 20) * 16
        done = ssh("cat", input=data, options=["-o", "RekeyLimit=1M"], timeout=300)
        self.assertEqual(done.returncode, 0)
        self.assertTrue(done.stdout == data)

    def test_100_mib_then_an_immediate_exit_lose_nothing(self):
        done = ssh("head -c 104857600 /dev/zero", timeout=300)
        self.assertEqual((done.returncode, len(done.stdout)), (0, 104857600))

    def test_a_command_is_one_argument_whatever_is_in_it(self):  # B27
        done = ssh("printf '%s' 'a  b\"c$HOME\n\xc3\xa4'")
        self.assertEqual(done.stdout, "a  b\"c$HOME\n\xc3\xa4".encode())

    def test_a_long_command_arrives_whole(self):
        text = "x" * 100000
        self.assertEqual(len(ssh("echo " + text).stdout), len(text) + 1)

    def test_an_empty_command_ends_well(self):
        self.assertEqual(ssh("").returncode, 0)

    def test_the_clients_environment_stays_outside(self):  # B26
        os.environ["LC_MAYFLY_TEST"] = "secret"
        done = ssh("env", options=["-o", "SendEnv=LC_MAYFLY_TEST"])
        self.assertEqual(done.returncode, 0)
        self.assertNotIn(b"secret", done.stdout)

    def test_python_takes_a_command_as_source(self):
        done = ssh("import sys; print(6*7); sys.exit(3)", user="python")
        self.assertEqual((done.stdout, done.returncode), (b"42\n", 3))

    def test_python_without_command_and_terminal_runs_stdin(self):
        self.assertEqual(ssh(user="python", input=b"print('from stdin')\n").stdout, b"from stdin\n")

    def test_a_shell_without_a_terminal_greets_nobody(self):
        done = ssh(input=b"echo hello\n")
        self.assertEqual((done.stdout, done.stderr), (b"hello\n", b""))


class OnTerminal(unittest.TestCase):
    def setUp(self):
        self.opened = []

    def tearDown(self):
        for terminal in self.opened:
            terminal.close()

    def open(self, *words, **more):
        self.opened.append(Terminal(*words, **more))
        return self.opened[-1]

    def test_a_shell_greets_and_takes_commands(self):
        terminal = self.open()
        self.assertTrue(terminal.read_until(b"also when your connection drops\r\n"), terminal.text)
        self.assertIn(b"mayfly: jail j_", terminal.text)
        terminal.send(b"echo $((6*7))-marker\n")
        self.assertTrue(terminal.read_until(b"42-marker"), terminal.text)
        terminal.send(b"exit 5\n")
        self.assertEqual(terminal.status(), 5)

    def test_python_is_interactive(self):
        terminal = self.open(user="python")
        self.assertTrue(terminal.read_until(b">>> "), terminal.text)
        terminal.send(b"print(6*7, 'marker')\n")
        # The next prompt too: what is typed before readline has the terminal again may be lost.
        self.assertTrue(terminal.read_until(b"42 marker\r\n>>> "), terminal.text)
        terminal.send(b"\x04")
        self.assertEqual(terminal.status(), 0)

    def test_size_and_resize_arrive(self):
        terminal = self.open("-t", "trap 'stty size; echo resized' WINCH; stty size; echo ready; while :; do sleep 0.1; done", rows=33, columns=101)
        self.assertTrue(terminal.read_until(b"ready"), terminal.text)
        terminal.resize(55, 222)
        self.assertTrue(terminal.read_until(b"55 222"), terminal.text)

    def test_control_c_interrupts_the_foreground(self):
        terminal = self.open("-t", "sh -c 'trap \"echo caught; exit 9\" INT; echo ready; sleep 30 & wait'")
        self.assertTrue(terminal.read_until(b"ready"), terminal.text)
        terminal.send(b"\x03")
        self.assertTrue(terminal.read_until(b"caught"), terminal.text)

    def test_a_command_on_a_terminal_has_one_and_is_not_greeted(self):
        terminal = self.open("-t", "test -t 0 && test -t 1 && echo is-terminal; exit 6")
        self.assertTrue(terminal.read_until(b"is-terminal"), terminal.text)
        self.assertEqual(terminal.status(), 6)
        self.assertNotIn(b"mayfly: jail", terminal.text)

    @fake_only
    def test_a_queued_run_says_its_place(self):
        terminal = self.open("-t", "fake:queue")
        self.assertTrue(terminal.read_until(b"position 3"), terminal.text)
        self.assertTrue(terminal.read_until(b"served"), terminal.text)


class Endings(unittest.TestCase):
    @fake_only
    def test_a_refusal_is_text_and_125(self):
        done = ssh("fake:refuse")
        self.assertEqual(done.returncode, 125)
        self.assertIn(b"mayfly: ending=refused reason=queue-full", done.stderr)
        self.assertNotIn(b"\x1b", done.stderr)

    @fake_only
    def test_a_jail_that_never_ran_has_its_reason_said_once(self):
        done = ssh("fake:fail")
        self.assertEqual((done.returncode, done.stderr.count(b"ending=failed")), (125, 1))

    @fake_only
    def test_a_limit_is_the_relays_line_and_its_status(self):
        done = ssh("fake:time-limit")
        self.assertEqual((done.returncode, done.stderr.count(b"ending=time-limit")), (124, 1))


class Login(unittest.TestCase):
    def test_a_name_that_is_no_profile_is_refused(self):
        for name in ("nobody", "root", "../run", "run ", "Run"):
            with self.subTest(name=name):
                done = ssh("echo in", user=name)
                self.assertEqual((done.returncode, done.stdout), (255, b""))
                self.assertIn(b"Permission denied", done.stderr)

    def test_any_key_will_do(self):
        with tempfile.TemporaryDirectory() as folder:
            key = os.path.join(folder, "key")
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
            done = ssh("echo in", options=["-i", key, "-o", "PreferredAuthentications=publickey"])
            self.assertEqual(done.stdout, b"in\n")

    def test_only_the_chosen_algorithms_are_offered(self):  # B40
        for option in ("Ciphers=aes128-gcm@openssh.com", "Ciphers=aes256-gcm@openssh.com", "MACs=hmac-sha1",
                       "KexAlgorithms=diffie-hellman-group14-sha256", "KexAlgorithms=ecdh-sha2-nistp256", "HostKeyAlgorithms=ssh-rsa"):
            with self.subTest(option=option):
                extra = ["-o", "Ciphers=aes128-ctr"] if option.startswith("MACs") else []
                done = ssh("echo in", options=["-o", option, *extra])
                self.assertEqual((done.returncode, done.stdout), (255, b""))
        for cipher in ("chacha20-poly1305@openssh.com", "aes256-ctr", "aes192-ctr", "aes128-ctr"):
            with self.subTest(cipher=cipher):
                self.assertEqual(ssh("echo in", options=["-o", "Ciphers=" + cipher]).stdout, b"in\n")

    def test_compression_is_not_offered(self):  # B37
        done = ssh("echo in", options=["-C", "-v", "-o", "LogLevel=DEBUG1"])
        self.assertEqual(done.stdout, b"in\n")
        self.assertIn(b"compression: none", done.stderr)

    def test_key_exchange_is_strict(self):
        done = ssh("true", options=["-vvv", "-o", "LogLevel=DEBUG3"])
        self.assertIn(b"kex-strict-s-v00@openssh.com", done.stderr)


class Refusals(unittest.TestCase):
    def test_a_local_forward_carries_nothing(self):  # B28
        done = ssh(options=["-W", "127.0.0.1:%d" % client.PORT], input=b"")
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stdout, b"")

    def test_a_remote_forward_is_refused(self):  # B28
        done = ssh("echo in", options=["-R", "0:127.0.0.1:1", "-o", "ExitOnForwardFailure=yes"])
        self.assertEqual((done.returncode, done.stdout), (255, b""))

    def test_agent_and_x11_are_not_there(self):  # B28
        done = ssh("env", options=["-A", "-o", "ForwardX11=yes"])
        self.assertEqual(done.returncode, 0)
        self.assertNotIn(b"SSH_AUTH_SOCK", done.stdout)
        self.assertNotIn(b"DISPLAY", done.stdout)

    def test_subsystems_are_refused(self):  # B29
        done = ssh("sftp", options=["-s"])
        self.assertEqual((done.returncode, done.stdout), (255, b""))
        self.assertIn(b"subsystem request failed", done.stderr)

    def test_something_that_is_not_ssh_is_shown_the_door(self):  # B10, B38
        for first in (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(120),
                      b"SSH-1.5-old\r\n", b"A" * 4096, b"\n"):
            with self.subTest(first=first[:12]), socket.create_connection(("127.0.0.1", client.PORT)) as peer:
                peer.sendall(first)
                peer.settimeout(1.0)
                try:
                    while peer.recv(4096):
                        pass
                except ConnectionResetError:
                    pass


class ManyChannels(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "control")
        self.master = subprocess.Popen(ssh_argv("-N", options=["-M", "-S", self.path]), stdin=subprocess.DEVNULL)
        self.assertTrue(until(lambda: os.path.exists(self.path), 20))

    def tearDown(self):
        self.master.kill()
        self.master.wait()
        self.folder.cleanup()

    # A client that is refused a channel would otherwise open a connection of its own.
    def shared(self, *words, **more):
        return ssh(*words, options=["-S", self.path, "-o", "ProxyCommand=false"], **more)

    def start(self, *words):
        return subprocess.Popen(ssh_argv(*words, options=["-S", self.path]), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def test_each_channel_has_a_life_of_its_own(self):
        runs = [self.start("read line; echo got $line; exit %d" % number) for number in range(8)]
        for number, run in reversed(list(enumerate(runs))):
            out, _ = run.communicate(b"%d\n" % number, timeout=30)
            self.assertEqual((out, run.returncode), (b"got %d\n" % number, number))

    def test_the_eleventh_channel_is_refused_and_a_place_is_free_again(self):  # B16
        runs = [self.start("echo up; cat") for _ in range(10)]
        for run in runs:
            self.assertEqual(run.stdout.readline(), b"up\n")
        refused = self.shared("echo in", timeout=30)
        self.assertEqual((refused.returncode, refused.stdout), (255, b""))
        for run in runs:
            run.communicate(timeout=30)
        self.assertEqual(self.shared("echo in").stdout, b"in\n")

    def test_a_channel_that_nobody_reads_does_not_stop_the_others(self):
        stuck = self.start("head -c 50000000 /dev/zero")
        time.sleep(1)
        self.assertEqual(self.shared("echo in").stdout, b"in\n")
        out, _ = stuck.communicate(timeout=60)
        self.assertEqual(len(out), 50000000)

    def test_a_hundred_runs_one_after_the_other(self):
        for number in range(100):
            self.assertEqual(self.shared("exit %d" % (number % 7)).returncode, number % 7)


class Leaving(unittest.TestCase):
    def alive(self):
        return len(client.FRONT_END.sessions())

    @fake_only
    def test_a_client_that_dies_takes_its_program_along(self):
        with tempfile.TemporaryDirectory() as folder:
            mark = os.path.join(folder, "pid")
            peer = subprocess.Popen(ssh_argv("echo $$ > %s; sleep 1000" % mark), stdin=subprocess.DEVNULL)
            self.assertTrue(until(lambda: os.path.exists(mark) and os.path.getsize(mark) > 1, 20))
            with open(mark) as file:
                pid = int(file.read())
            peer.kill()
            peer.wait()
            self.assertTrue(until(lambda: not os.path.exists("/proc/%d" % pid), 2.5))
            self.assertTrue(until(lambda: self.alive() == 0, 2.5))

    @fake_only
    def test_a_session_ends_when_the_listener_is_killed(self):
        own = front_end.FrontEnd()
        try:
            peer = subprocess.Popen(["ssh", *OPTIONS, "-p", str(own.port), "run@127.0.0.1", "echo up; sleep 1000"],
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            self.assertEqual(peer.stdout.readline(), b"up\n")
            own.sshd.kill()
            self.assertEqual(peer.wait(timeout=5), 255)
        finally:
            own.stop()

    @fake_only
    def test_a_session_says_so_when_the_engine_is_killed(self):
        own = front_end.FrontEnd()
        try:
            peer = subprocess.Popen(["ssh", *OPTIONS, "-p", str(own.port), "run@127.0.0.1", "echo up; sleep 3"],
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertEqual(peer.stdout.readline(), b"up\n")
            own.supervisor.kill()
            _, text = peer.communicate(timeout=10)
            self.assertEqual(peer.returncode, 125)
            self.assertIn(b"the jail engine has stopped", text)
        finally:
            own.stop()

    @fake_only
    def test_the_peer_ends_input_and_output_of_nobody_else(self):
        other = subprocess.Popen(ssh_argv("echo up; cat"), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertEqual(other.stdout.readline(), b"up\n")
        peer = subprocess.Popen(ssh_argv("echo up; cat"), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertEqual(peer.stdout.readline(), b"up\n")
        peer.kill()
        peer.wait()
        out, _ = other.communicate(b"still here\n", timeout=20)
        self.assertEqual(out, b"still here\n")


if __name__ == "__main__":
    sys.exit(0 if client.run_tests() else 1)
