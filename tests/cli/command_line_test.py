"""The command line: help with examples, errors of one form, a service that is told what to do."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e"))
from harness import BIN, Service, run_tests, wait_until  # noqa: E402

MAYFLY = f"{BIN}/mayfly"
SOURCE = os.environ["MAYFLY_SOURCE"]
COMMANDS = ["serve", "status", "stop", "drain", "run", "shell", "ps", "kill", "doctor", "hostkey", "invite", "reload"]


def mayfly(*words, **options):
    return subprocess.run([MAYFLY, *words], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL, **options)


def test_every_command_has_help_with_examples():
    done = mayfly("--help")
    assert done.returncode == 0
    for command in COMMANDS:
        assert command in done.stdout
        help_text = mayfly(command, "--help")
        assert help_text.returncode == 0 and "Examples:" in help_text.stdout, command


def test_the_manual_and_the_completion_know_every_option():
    with open(f"{SOURCE}/etc/completion/mayfly.bash") as file:
        completion = file.read()
    manual = ""
    for page in ("mayfly.1", "mayfly-serve.8"):
        with open(f"{SOURCE}/docs/man/{page}") as file:
            manual += file.read().replace("\\-", "-")
    for command in COMMANDS:
        assert command in completion
        for option in re.findall(r"--[a-z-]+", mayfly(command, "--help").stdout.split("Examples:")[0]):
            assert option in completion, (command, option)
            assert option in manual or option == "--help", (command, option)


def test_the_version_is_one_line():
    done = mayfly("--version")
    assert done.returncode == 0 and re.fullmatch(r"mayfly \d+\.\d+\.\d+\n", done.stdout)


def test_mistakes_are_one_line_on_stderr_that_says_what_to_do():
    for words, status, part in ((["frob"], 2, "no command is called"), (["status", "--nope"], 2, "--nope"), (["kill"], 2, "target"),
                                ([], 2, "--help"), (["run", "--nope"], 125, "--nope"), (["run", "ls"], 125, "--"),
                                (["run", "--time", "5x", "--", "true"], 125, "500ms"), (["run", "--"], 125, "no command"),
                                (["status", "--", "x"], 2, "run"), (["run", "--tty", "--", "true"], 125, "terminal"),
                                (["run", "--config", "/nonexistent", "--", "true"], 125, "/nonexistent")):
        done = mayfly(*words)
        assert done.returncode == status, (words, done)
        assert done.stdout == "" and done.stderr.startswith("mayfly: ") and part in done.stderr, (words, done)
        assert "\033" not in done.stderr
        assert done.stderr.count("\n") == 1, done.stderr


def test_without_a_service_every_command_says_so():
    with tempfile.TemporaryDirectory() as folder:
        for words in (["status"], ["ps"], ["drain"], ["kill", "j_x"], ["stop"], ["hostkey"]):
            done = mayfly(*words, "--state", folder)
            assert done.returncode == 1 and "mayfly: " in done.stderr, (words, done)


def test_check_says_ok_or_names_the_line():
    done = mayfly("serve", "--check", "--config", f"{SOURCE}/etc/mayfly.jsonc")
    assert done.returncode == 0 and done.stdout.startswith("ok"), done
    with tempfile.NamedTemporaryFile("w", suffix=".jsonc") as file:
        file.write('{\n  "listen": {\n    "sshh": "off"\n  }\n}\n')
        file.flush()
        for words in (["serve", "--check"], ["serve"], ["run"]):
            done = mayfly(*words, "--config", file.name, *(["--", "true"] if words == ["run"] else []))
            assert done.returncode in (1, 125) and f"{file.name}:3" in done.stderr and "sshh" in done.stderr, done


def test_check_judges_the_addresses_of_the_command_line_too():
    for option in ("--ssh", "--http"):
        for address, part in (("0.0.0.0:2222", "openOnNetwork"), ("nowhere", "127.0.0.1:2222"), ("", "127.0.0.1:2222")):
            done = mayfly("serve", "--check", option, address)
            assert done.returncode == 1 and part in done.stderr and done.stdout == "", (option, address, done)
    assert mayfly("serve", "--check", "--ssh", "off", "--http", "[::1]:0").stdout.startswith("ok")


def test_an_answer_that_cannot_be_written_is_no_success():
    for words, status in ((["--help"], 1), (["run", "--help"], 1), (["--version"], 1), (["serve", "--check"], 1),
                          (["run", "--json", "--", "true"], 125)):
        with open("/dev/full", "w") as full:
            done = subprocess.run([MAYFLY, *words], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        assert done.returncode == status and "write the" in done.stderr, (words, done)


def test_the_log_level_holds_for_every_process():
    with tempfile.NamedTemporaryFile("w", suffix=".jsonc") as file:
        file.write('{"log": {"level": "error"}}')
        file.flush()
        quiet = Service("--config", file.name)
        try:
            assert quiet.post({"code": "print(1)"})[1]["stdout"] == "1\n"
            assert quiet.ssh("run", "echo 2").stdout == b"2\n"
            assert quiet.log_text() == "", quiet.log_text()
        finally:
            quiet.stop()


def test_a_service_is_watched_drained_and_stopped():
    service = Service()
    status = json.loads(service.mayfly("status", "--json", "--state", service.state).stdout)
    assert re.fullmatch(r"[0-9a-f]{12}", status["instance"]) and not status["draining"]
    by_environment = mayfly("status", env={"MAYFLY_STATE": service.state, "HOME": "/"})
    assert status["instance"] in by_environment.stdout
    assert service.mayfly("drain", "--state", service.state).returncode == 0
    assert json.loads(service.mayfly("status", "--json", "--state", service.state).stdout)["draining"]
    assert service.ssh("run", "true", check=False).returncode == 125
    assert re.search(r"info jail.refused jail=j_\S+ origin=ssh profile=run .*ending=draining", service.log_text()), service.log_text()
    assert service.post({"code": "print(1)"})[0] == 503
    begin = time.monotonic()
    done = service.mayfly("stop", "--state", service.state)
    assert done.returncode == 0 and time.monotonic() - begin < 10, done
    assert service.process.wait(timeout=5) == 0
    assert os.listdir(f"{service.state}/run") == [], "socket files are left"
    service.folder.cleanup()


def test_the_host_key_is_made_once_and_never_replaced():
    with tempfile.TemporaryDirectory(prefix="mayfly-e2e-") as folder:
        seen = set()
        for _ in range(2):
            process = subprocess.Popen([MAYFLY, "serve", "--state", folder, "--ssh", "127.0.0.1:0", "--http", "off"],
                                       stderr=subprocess.DEVNULL)
            wait_until(lambda: mayfly("status", "--state", folder).returncode == 0, 20, "the service answers")
            assert os.stat(f"{folder}/host_key").st_mode & 0o777 == 0o600
            key = mayfly("hostkey", "--state", folder).stdout.splitlines()
            with open(f"{folder}/known", "w") as file:
                file.write(key[0] + "\n")
            stock = subprocess.run(["ssh-keygen", "-lf", f"{folder}/known"], capture_output=True, text=True).stdout
            assert key[1] in stock
            seen.add(tuple(key))
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=12) == 0
        assert len(seen) == 1


def test_a_host_key_that_others_can_read_is_refused():
    with tempfile.TemporaryDirectory(prefix="mayfly-e2e-") as folder:
        with open(f"{folder}/host_key", "w") as file:
            file.write("-----BEGIN OPENSSH PRIVATE KEY-----\n")
        os.chmod(f"{folder}/host_key", 0o644)
        done = mayfly("serve", "--state", folder, "--ssh", "127.0.0.1:0", "--http", "off")
        assert done.returncode == 1 and "chmod 600" in done.stderr, done


def test_a_busy_port_names_its_holder_and_starts_nothing():
    service = Service()
    try:
        with tempfile.TemporaryDirectory(prefix="mayfly-e2e-") as folder:
            done = mayfly("serve", "--state", folder, "--ssh", f"127.0.0.1:{service.ssh_port}", "--http", "off")
            assert done.returncode == 1
            assert f"127.0.0.1:{service.ssh_port}" in done.stderr and f"pid {service.process.pid}" in done.stderr, done
    finally:
        service.stop()


def test_a_network_address_needs_the_words_for_it():
    with tempfile.TemporaryDirectory(prefix="mayfly-e2e-") as folder:
        done = mayfly("serve", "--state", folder, "--ssh", "0.0.0.0:0", "--http", "off")
        assert done.returncode == 1 and "openOnNetwork" in done.stderr, done


def test_a_second_signal_does_not_wait():
    service = Service()
    client = subprocess.Popen(service.ssh_argv("run", "trap '' TERM INT HUP; sleep 600"), stdin=subprocess.DEVNULL)
    wait_until(service.jails, 30, "a jail lives")
    begin = time.monotonic()
    service.process.send_signal(signal.SIGTERM)
    service.process.send_signal(signal.SIGTERM)
    service.process.wait(timeout=12)
    assert time.monotonic() - begin < 5
    client.wait(timeout=10)
    service.folder.cleanup()


def test_a_profile_hands_its_files_out_also_without_a_service():
    with tempfile.TemporaryDirectory(prefix="mayfly-folders-") as folder, tempfile.NamedTemporaryFile("w", suffix=".jsonc") as config:
        os.chmod(folder, 0o755)
        for name, text in (("seed/exercise", "mine"), ("data/table", "ours")):
            os.makedirs(os.path.dirname(f"{folder}/{name}"))
            with open(f"{folder}/{name}", "w") as file:
                file.write(text)
        json.dump({"profiles": {"class": {"shell": ["/bin/sh"], "seed": f"{folder}/seed", "readonly": f"{folder}/data"}}}, config)
        config.flush()
        run = ["run", "--config", config.name]
        script = "echo x >> exercise; cat exercise /data/table; rm -f /data/table; ls / | grep -cE '^(data|seed)$'"
        assert mayfly(*run, "--profile", "class", "--", "sh", "-c", script).stdout == "minex\nours1\n"
        assert mayfly(*run, "--", "sh", "-c", "ls; ls / | grep -cE '^(data|seed)$'").stdout == "0\n"
        os.rename(f"{folder}/data", f"{folder}/gone")
        done = mayfly(*run, "--", "true")
        assert done.returncode == 125 and "profiles.class.readonly" in done.stderr and "No such file" in done.stderr, done



if __name__ == "__main__":
    run_tests(sys.modules[__name__])
