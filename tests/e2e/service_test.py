"""ssh, HTTP and the command line against one service, with stock clients."""
import atexit
import hashlib
import json
import os
import pty
import re
import select
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import SSH, Service, processes_with, run_tests, wait_until  # noqa: E402

service = Service()
atexit.register(lambda: service.process.poll() is None and service.stop())


def test_an_ssh_exec_prints_its_output():
    assert service.ssh("run", "python3 -c 'print(sum(range(10)))'").stdout == b"45\n"


def test_the_python_profile_takes_source_as_command_and_on_stdin():
    assert service.ssh("python", "print(6*7)").stdout == b"42\n"
    assert service.ssh("python", stdin=None, input=b"print(40+3)\n").stdout == b"43\n"


def test_exit_codes_and_signals_are_told_apart():  # P31
    for code in (0, 1, 7, 124, 125, 126, 127, 137, 255):
        done = service.ssh("run", f"exit {code}", check=False)
        assert (done.returncode, done.stderr) == (code, b""), (code, done)
    killed = service.ssh("run", "kill -SEGV $$", check=False)
    assert killed.returncode == 255, killed  # OpenSSH's client says 255 for an exit-signal


def test_stderr_is_apart_from_stdout():
    done = service.ssh("run", "echo out; echo err >&2")
    assert (done.stdout, done.stderr) == (b"out\n", b"err\n")


def test_stdin_is_binary_exact_and_half_closes():  # P32
    data = os.urandom(3_000_000)
    assert service.ssh("run", "sha256sum", stdin=None, input=data).stdout.split()[0].decode() == hashlib.sha256(data).hexdigest()
    assert service.ssh("run", "cat", stdin=None, input=data).stdout == data
    assert service.ssh("run", "true", stdin=None, input=data, check=False).returncode == 0  # nobody reads it


def test_a_large_output_arrives_whole_before_the_status():
    done = service.ssh("run", "head -c 50000000 /dev/zero; exit 3", check=False)
    assert (len(done.stdout), done.returncode) == (50_000_000, 3)


class Terminal:
    """A program of ours on a pseudo terminal, as a person would use it."""

    def __init__(self, argv):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "xterm"
            os.execv(argv[0], argv)
        self.text = b""

    def type(self, text):
        os.write(self.fd, text)

    def expect(self, what, seconds=20):
        end = time.monotonic() + seconds
        while what not in self.text:
            left = end - time.monotonic()
            assert left > 0, f"never saw {what!r} in {self.text!r}"
            if select.select([self.fd], [], [], left)[0]:
                try:
                    chunk = os.read(self.fd, 65536)
                except OSError:
                    chunk = b""
                assert chunk, f"ended before {what!r}: {self.text!r}"
                self.text += chunk
        self.text = self.text.split(what, 1)[1]

    def wait(self):
        while True:
            try:
                if not os.read(self.fd, 65536):
                    break
            except OSError:
                break
        status = os.waitpid(self.pid, 0)[1]
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status)


def test_an_interactive_python_greets_computes_and_ends():
    terminal = Terminal(service.ssh_argv("python"))
    terminal.expect(b"gone when you leave")
    terminal.expect(b">>> ")
    terminal.type(b"21*2\r")
    terminal.expect(b"42")
    terminal.type(b"import os; os.get_terminal_size().columns > 0\r")
    terminal.expect(b"True")
    terminal.type(b"exit(5)\r")
    assert terminal.wait() == 5


def test_a_shell_has_job_control_and_a_size():
    terminal = Terminal(service.ssh_argv("run"))
    terminal.expect(b"$ ")
    terminal.type(b"stty size; tty\r")
    terminal.expect(b"/dev/pts/0")
    terminal.type(b"sleep 100\r")
    time.sleep(0.5)
    terminal.type(b"\x03")  # ^C reaches sleep, not the shell
    terminal.type(b"echo st''ill here\r")
    terminal.expect(b"still here")
    terminal.type(b"exit 4\r")
    assert terminal.wait() == 4


def test_several_channels_of_one_connection_are_several_jails():
    path = f"{service.folder.name}/mux.sock"
    master = subprocess.Popen([*SSH, "-M", "-N", "-S", path, "-p", str(service.ssh_port), "run@127.0.0.1"])
    try:
        wait_until(lambda: os.path.exists(path), 10, "the master is connected")
        mux = [*SSH, "-S", path, "-p", str(service.ssh_port), "run@127.0.0.1"]
        first = subprocess.Popen([*mux, "echo secret > /tmp/x; echo $$; sleep 3071"], stdout=subprocess.PIPE)
        assert first.stdout.readline().strip().isdigit()
        done = subprocess.run([*mux, "ls /tmp | wc -l; ps ax 2>/dev/null | grep -c '[s]leep 3071'"], capture_output=True, timeout=30)
        assert done.stdout.split() == [b"0", b"0"], done
        assert len(service.jails()) >= 1
        first.terminate()
        first.wait(timeout=10)
        wait_until(lambda: not service.jails(), 3, "a closed channel ends its jail")
    finally:
        master.terminate()
        master.wait(timeout=10)


def test_an_unknown_user_name_and_forwarding_are_refused():
    assert service.ssh("root", "true", check=False).returncode == 255
    done = subprocess.run([*SSH, "-o", "ExitOnForwardFailure=yes", "-R", "0:127.0.0.1:1", "-p", str(service.ssh_port),
                           "run@127.0.0.1", "true"], capture_output=True, timeout=30)
    assert done.returncode == 255, done


def test_a_vanished_ssh_client_ends_its_jail_within_two_seconds():  # P08
    marker = "3141592"
    client = subprocess.Popen(service.ssh_argv("run", f"sleep {marker}"), stdin=subprocess.PIPE)
    wait_until(lambda: processes_with(marker), 10, "the program runs")
    client.kill()
    client.wait()
    wait_until(lambda: not processes_with(marker), 2, "the program is gone")


def test_the_api_answers_with_the_exact_fields():
    done = subprocess.run(["curl", "-s", "-H", "Content-Type: application/json", "-d", '{"code":"print(sum(range(10)))"}',
                           f"http://127.0.0.1:{service.http_port}/api/run"], capture_output=True, timeout=30, check=True)
    answer = json.loads(done.stdout)
    assert answer["stdout"] == "45\n" and answer["stderr"] == "" and answer["exitCode"] == 0
    assert answer["timedOut"] is False and answer["runtime"] == "mayfly" and answer["ending"] == "exited"
    assert answer["controls"]["network"] == "none"
    assert answer["controls"]["filesystem"] == "ephemeral"
    assert answer["controls"]["environment"] == "cleared"
    assert answer["languageVersion"].startswith("3.")
    assert answer["id"].startswith("j_") and answer["record"] is None and answer["limits"]["wallMs"] == 10000


def test_the_api_passes_files_stdin_args_and_limits():
    code = "import sys,util; print(util.x, sys.argv[1:], sys.stdin.read(), open('a/data.bin','rb').read())"
    status, answer = service.post({"code": code, "stdin": "in", "args": ["x", "y z"],
                                   "files": {"util.py": {"content": "x=5"}, "a/data.bin": {"content": "AAE=", "encoding": "base64"}},
                                   "limits": {"wallMs": 20000, "memoryBytes": 134217728, "cpus": 0.5}})
    assert status == 200 and answer["stdout"] == "5 ['x', 'y z'] in b'\\x00\\x01'\n", answer
    assert answer["limits"]["memoryBytes"] == 134217728 and answer["limits"]["cpus"] == 0.5


def test_each_limit_of_an_api_run_ends_it_by_name():
    cases = [({"code": "while 1: pass", "limits": {"wallMs": 500}}, "time-limit", True),
             ({"code": "while 1: pass", "limits": {"cpuMs": 300}}, "cpu-limit", True),
             ({"code": "x=bytearray(10**9)", "limits": {"memoryBytes": 67108864}}, "memory-limit", False)]
    for body, ending, timed_out in cases:
        status, answer = service.post(body)
        assert (status, answer["ending"], answer["timedOut"], answer["exitCode"]) == (200, ending, timed_out, None), answer
    status, answer = service.post({"code": "import os,time\nfor i in range(200):\n  try: os.fork() or time.sleep(1) or os._exit(0)\n"
                                           "  except OSError: pass\n", "limits": {"processes": 16}})
    assert "processes" in answer["limitsReached"], answer
    status, answer = service.post({"code": "f=open('/tmp/x','wb')\ntry:\n  while 1: f.write(b'0'*65536); f.flush()\n"
                                           "except OSError as e: print(e.errno)\n", "limits": {"diskBytes": 1048576}})
    assert answer["stdout"] == "28\n" and "disk" in answer["limitsReached"], answer
    status, answer = service.post({"code": "print('x'*100)", "limits": {"outputBytes": 10}})
    assert answer["stdout"] == "x" * 10 and answer["truncated"]["stdout"] and answer["bytes"]["stdout"] == 101, answer
    assert answer["tail"]["stdout"].endswith("x\n") and "output" in answer["limitsReached"], answer
    status, answer = service.post({"code": "import os\nwhile 1: os.write(1, b'x' * 1000000)", "limits": {"wallMs": 60000}})
    assert answer["ending"] == "output-limit", answer["ending"]


def test_bad_input_is_refused_with_field_and_range_and_starts_nothing():
    before = service.get("/healthz")
    for body, field in [({}, "code"), ({"code": "x", "limits": {"wallMs": 0}}, "limits.wallMs"),
                        ({"code": "x", "limits": {"wallMs": 60001}}, "limits.wallMs"), ({"code": "x", "colour": 1}, "colour"),
                        ({"code": "x", "language": "cobol"}, "language"), ({"code": "x", "files": {"../x": {"content": ""}}}, "files.../x"),
                        ('{"code":"x","code":"y"}', "code")]:
        status, answer = service.post(body)
        assert (status, answer.get("field")) == (400, field), answer
        assert answer["code"] == "bad-field" and answer["detail"], answer
    for limits, range_of_it in [({"wallMs": 60001}, "10..60000"), ({"wallMs": -1}, "10..60000"), ({"cpus": -1}, "0.05..2.00"),
                                ({"processes": -5}, "2..256"), ({"memoryBytes": 1}, "8388608..1073741824")]:
        status, answer = service.post({"code": "x", "limits": limits})
        assert status == 400 and range_of_it in answer["detail"], answer
    big = {"content": "x" * (2 << 20)}
    status, answer = service.post({"code": "x", "limits": {"diskBytes": 1 << 20}, "files": {"big": big}})
    assert (status, answer["field"]) == (400, "limits.diskBytes"), answer
    for text in ("[" * 100000, "", "{", '{"code":"x"', "{'code':'x'}", '{"code":"x"} x', '{"code":1e999}'):
        status, answer = service.post(text)
        assert (status, answer["code"]) == (400, "bad-json") and "exception" not in answer["detail"], answer
    assert service.request("POST", "/api/run", "{}", {"Content-Type": "text/plain"})[0] == 415
    assert service.post({"code": "x"}, Host="evil.example")[0] == 421
    assert service.post({"code": "x"}, Origin="http://evil.example")[0] == 403
    assert service.request("GET", "/api/run")[0] == 405
    assert service.request("GET", "/nothing")[0] == 404
    assert service.request("POST", "/api/run", None, {"Content-Type": "application/json", "Content-Length": "17000000"})[0] == 413
    assert service.get("/healthz") == before and not service.jails()


def test_a_vanished_http_client_ends_its_jail_within_two_seconds():  # P08
    marker = "2718281"
    peer = service.post_in_background({"code": f"import os; os.execv('/usr/bin/sleep', ['sleep', '{marker}'])",
                                       "limits": {"wallMs": 60000}})
    wait_until(lambda: processes_with(marker), 10, "the program runs")
    peer.close()
    wait_until(lambda: not processes_with(marker), 2, "the program is gone")


def test_a_required_control_that_is_missing_starts_nothing():
    status, containment = service.get("/api/containment")
    assert status == 200, containment
    missing = [name for name, value in containment["controls"].items() if value in ("absent", "unlimited")]
    for name in missing:
        status, answer = service.post({"code": "print(1)", "require": [name]})
        assert (status, answer["code"], answer["field"]) == (422, "control-missing", name), answer
    present = [name for name in containment["controls"] if name not in missing]
    assert service.post({"code": "print(1)", "require": present})[0] == 200


def test_the_example_of_the_documentation_works():
    with open(os.path.join(os.environ["MAYFLY_SOURCE"], "docs/api.md"), encoding="utf-8") as page:
        example = page.read().split("-d '", 1)[1].split("'\n```", 1)[0]
    status, answer = service.post(json.loads(example))
    assert status == 200 and answer["stdout"] == "HELLO from a file\n", answer


def test_containment_is_examined_and_sound():  # P22
    status, answer = service.get("/api/containment")
    assert status == 200 and answer["problems"] == [], answer
    verdicts = {row["attack"]: row["verdict"] for row in answer["attacks"]}
    assert len(verdicts) >= 8 and "broken" not in verdicts.values(), verdicts
    assert answer["controls"] == service.post({"code": "print(1)"})[1]["controls"]


def test_ps_lists_and_kill_ends_a_jail():
    client = subprocess.Popen(service.ssh_argv("run", "sleep 4072"), stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    rows = wait_until(service.jails, 10, "the jail is listed")
    assert rows[0]["profile"] == "run" and rows[0]["origin"] == "ssh", rows
    done = service.mayfly("kill", rows[0]["id"], "--state", service.state)
    assert done.returncode == 0, done
    assert client.wait(timeout=10) == 125
    assert b"ending=killed" in client.stderr.read()
    log = service.log_text()
    assert re.search(rf"info operator.kill uid={os.getuid()} target={rows[0]['id']} jails=1", log), log
    assert re.search(rf"info jail.ended jail={rows[0]['id']} origin=ssh profile=run principal=anonymous@127.0.0.1 .*ending=killed", log), log


def test_every_jail_leaves_one_line_in_the_log():
    jail = service.post({"code": "import sys; sys.exit(3)"})[1]["id"]
    lines = wait_until(lambda: re.findall(rf".*jail={jail} .*", service.log_text()), 5, "the line of the jail")
    assert len(lines) == 1 and "jail.ended" in lines[0] and "origin=api" in lines[0] and "ending=exited:3" in lines[0], lines


if __name__ == "__main__":
    run_tests(sys.modules[__name__])
