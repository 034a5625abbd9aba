"""`mayfly reload`: what counts from then on, what needs a restart, and what a mistake does: nothing."""
import atexit
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import Service, run_tests, wait_until  # noqa: E402

FOLDER = tempfile.TemporaryDirectory(prefix="mayfly-reload-")
FILE = f"{FOLDER.name}/mayfly.jsonc"


def configure(text="{}", **members):
    with open(FILE + ".new", "w") as file:
        file.write(json.dumps(members) if members else text)
    os.rename(FILE + ".new", FILE)


def wall(milliseconds):
    return {"api": {"defaults": {"wallMs": milliseconds}}}


configure(limits=wall(5000))
service = Service("--config", FILE)
atexit.register(service.stop)


def reload(status=0):
    done = service.mayfly("reload", "--state", service.state)
    assert done.returncode == status, done
    return (done.stdout if status == 0 else done.stderr).decode()


def status():
    return json.loads(service.mayfly("status", "--json", "--state", service.state).stdout)


def limits_of_a_run():
    return service.post({"code": "print(1)"})[1]["limits"]


def answers():
    try:
        return service.post({"code": "print(1)"})[0] == 200
    except OSError:
        return False


def test_limits_count_from_the_next_jail_on_and_live_ones_keep_theirs():
    assert limits_of_a_run()["wallMs"] == 5000
    shell = subprocess.Popen(service.ssh_argv("run", "cat"), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    before = wait_until(service.jails, 10, "the jail is listed")
    configure(limits={**wall(7000), "exec": {"defaults": {"wallMs": 1000}}})
    assert reload().startswith("reloaded: process")
    assert limits_of_a_run()["wallMs"] == 7000
    assert [row["id"] for row in service.jails()] == [row["id"] for row in before]
    assert service.jails()[0]["leftMs"] > 10000
    out, _ = shell.communicate(b"still here\n", timeout=20)
    assert (out, shell.returncode) == (b"still here\n", 0)
    assert service.ssh("run", "sleep 20", check=False).returncode == 124


def test_profiles_come_and_go():
    configure(profiles={"bash": {"shell": ["/bin/bash"]}})
    assert service.ssh("bash", "echo $BASH_VERSINFO", check=False).returncode == 255
    reload()
    assert service.ssh("bash", "echo $((1+1)) ${BASH_VERSION:+bash}").stdout == b"2 bash\n"
    configure()
    reload()
    assert service.ssh("bash", "true", check=False).returncode == 255


def test_what_needs_a_restart_is_named_and_stays():
    configure(access={"ssh": ["invites"]}, require=["network"], host={"jails": 1}, madeAhead=False, log={"level": "error"})
    said = reload()
    assert said.rstrip().endswith("only a restart changes: access, host, require, madeAhead, log"), said
    assert status()["restartNeeded"] == "access, host, require, madeAhead, log"
    assert service.ssh("run", "echo open").stdout == b"open\n"
    assert "filesystem" in service.get("/api/containment")[1]["required"]
    configure()
    assert "restart" not in reload() and status()["restartNeeded"] == ""


def test_a_mistake_changes_nothing_and_is_named_in_the_log():
    configure(limits=wall(6000))
    reload()
    for text, part in (('{"limits": {"api": {"defaults": {"wallMs": 1}}}}', "wallMs"), ("{", "jsonc"), ('{"colour": 1}', "colour")):
        configure(text)
        assert "the old one goes on" in reload(status=1)
        assert part in service.log_text()
        assert limits_of_a_run()["wallMs"] == 6000
    os.unlink(FILE)
    assert "the old one goes on" in reload(status=1)
    assert limits_of_a_run()["wallMs"] == 6000
    configure()


def test_what_was_reloaded_outlives_the_supervisor():
    configure(limits=wall(3000))
    reload()
    os.kill(service.helper("mayfly-supervisor"), signal.SIGKILL)
    wait_until(answers, 20, "the service is back")
    wait_until(lambda: limits_of_a_run()["wallMs"] == 3000, 5, "the limit is the reloaded one")
    configure()


def test_a_file_that_is_none_does_not_hold_anything_up():
    os.mkfifo(f"{FOLDER.name}/fifo")
    os.rename(f"{FOLDER.name}/fifo", FILE)
    began = time.monotonic()
    assert "the old one goes on" in reload(status=1)
    assert time.monotonic() - began < 5 and "is not a regular file" in service.log_text()
    configure(limits=wall(4000))
    reload()
    assert limits_of_a_run()["wallMs"] == 4000


def test_a_link_is_followed_at_every_reload():
    for name, milliseconds in (("one", 4100), ("two", 4200)):
        with open(f"{FOLDER.name}/{name}.jsonc", "w") as file:
            json.dump({"limits": wall(milliseconds)}, file)
        os.symlink(f"{name}.jsonc", f"{FOLDER.name}/link")
        os.rename(f"{FOLDER.name}/link", FILE)
        reload()
        assert limits_of_a_run()["wallMs"] == milliseconds
    os.unlink(FILE)
    configure()


def test_a_signal_does_the_same_and_a_storm_of_them_harms_nobody():
    before = status()["reloads"]
    configure(limits=wall(8000))
    for _ in range(50):
        service.process.send_signal(signal.SIGHUP)
    wait_until(lambda: limits_of_a_run()["wallMs"] == 8000, 10, "the new limit counts")
    reload()
    assert before < status()["reloads"] <= before + 51
    assert service.ssh("run", "echo up").stdout == b"up\n"


def test_without_a_service_it_says_so():
    done = service.mayfly("reload", "--state", f"{FOLDER.name}/none")
    assert done.returncode == 1 and b"--state" in done.stderr, done


if __name__ == "__main__":
    run_tests(sys.modules[__name__])
