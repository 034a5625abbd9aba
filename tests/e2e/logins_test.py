"""Who may come in over SSH: invites and keys, with the whole service and real clients. P41"""
import atexit
import contextlib
import csv
import io
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time

import paramiko

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import Service, run_tests, wait_until  # noqa: E402

FOLDER = tempfile.TemporaryDirectory(prefix="mayfly-logins-")
KEYS = f"{FOLDER.name}/authorized_keys"


def path(name):
    return os.path.join(FOLDER.name, name)


def make_key(name, *options):
    subprocess.run(["ssh-keygen", "-q", "-N", "", "-C", name, "-f", path(name), *(options or ("-t", "ed25519"))], check=True)
    with open(path(name) + ".pub") as file:
        return file.read().strip()


def authorize(*lines):
    with open(path("beside"), "w") as file:
        file.write("\n".join(lines) + "\n")
    os.chmod(path("beside"), 0o600)
    os.rename(path("beside"), KEYS)


def configuration(**access):
    name = path(f"{len(os.listdir(FOLDER.name))}.jsonc")
    with open(name, "w") as file:
        json.dump({"access": access}, file)
    return name


authorize("# nobody yet")
service = Service("--config", configuration(ssh=["keys", "invites"], authorizedKeys=KEYS), open_door=False)
atexit.register(service.stop)


def mayfly(*words, status=0):
    done = service.mayfly(*words, "--state", service.state)
    assert done.returncode == status, done
    return done.stdout.decode() if status == 0 else done.stderr.decode()


def invite(name, *words):
    return json.loads(mayfly("invite", "--name", name, "--json", *words))


@contextlib.contextmanager
def transport():
    made = paramiko.Transport(socket.create_connection(("127.0.0.1", service.ssh_port)))
    try:
        made.start_client(timeout=20)
        yield made
    finally:
        made.close()


def run_on(connected, command):
    channel = connected.open_session(timeout=20)
    channel.settimeout(20)
    channel.exec_command(command)
    output = channel.makefile("rb").read()
    return channel.recv_exit_status(), output


def lets_in(user, code, how="password"):
    with transport() as connected:
        try:
            if how == "password":
                connected.auth_password(user, code, fallback=False)
            else:
                connected.auth_interactive(user, lambda title, words, questions: [code for _ in questions])
        except paramiko.AuthenticationException:
            return False
        return connected.is_authenticated() and run_on(connected, "echo in")[1] is not None


def ssh_with_key(name, *words, user="run", **options):
    return subprocess.run(["ssh", "-F", "none", "-i", path(name), "-o", "IdentitiesOnly=yes", "-o", "StrictHostKeyChecking=no",
                           "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", "-o", "BatchMode=yes", "-p",
                           str(service.ssh_port), f"{user}@127.0.0.1", *words], capture_output=True, timeout=60, **options)


def test_an_invite_is_a_ready_line_a_code_and_the_host_keys_fingerprint():
    made = invite("ana", "--profile", "python", "--expires", "8h")
    assert made["ssh"] == f"ssh -p {service.ssh_port} python@127.0.0.1", made
    assert re.fullmatch(r"([0-9a-hjkmnp-tv-z]{5}-){3}[0-9a-hjkmnp-tv-z]{5}", made["code"]), made
    assert made["fingerprint"] == json.loads(service.mayfly("hostkey", "--json", "--state", service.state).stdout)["fingerprint"]
    assert made["fingerprint"].startswith("SHA256:") and made["expires"].endswith("Z"), made
    for how in ("password", "keyboard-interactive"):
        assert lets_in("python", made["code"], how), how
    assert lets_in("python", made["code"].upper().replace("-", " "))
    for user, code in (("run", made["code"]), ("python", made["code"][:-1]), ("python", ""), ("nobody", made["code"]),
                       ("python", "x" * 5000)):
        for how in ("password", "keyboard-interactive"):
            assert not lets_in(user, code, how), (user, code, how)


def test_stock_ssh_is_asked_for_the_code():
    code = invite("stock")["code"]
    with open(path("askpass"), "w") as file:
        file.write(f"#!/bin/sh\necho \"$1\" >> {path('asked')}\necho {code}\n")
    os.chmod(path("askpass"), 0o700)
    done = subprocess.run(["ssh", "-F", "none", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o",
                           "LogLevel=ERROR", "-p", str(service.ssh_port), "run@127.0.0.1", "echo $((40+2))"],
                          capture_output=True, timeout=60, env={**os.environ, "SSH_ASKPASS": path("askpass"),
                                                                "SSH_ASKPASS_REQUIRE": "force"})
    assert (done.returncode, done.stdout) == (0, b"42\n"), done
    with open(path("asked")) as file:
        assert "Invite code:" in file.read()


def test_a_jail_carries_its_guests_name():
    code = invite("carla")["code"]
    with transport() as connected:
        connected.auth_password("run", code)
        channel = connected.open_session()
        channel.exec_command("sleep 60")
        rows = wait_until(service.jails, 10, "the jail is listed")
        assert [row["principal"] for row in rows] == ["invite:carla"], rows
        assert mayfly("kill", "invite:carla") == "killed: 1\n"


def test_an_invite_is_used_up_expires_and_is_revoked():
    code = invite("twice", "--uses", "2")["code"]
    assert [lets_in("run", code) for _ in range(3)] == [True, True, False]
    short = invite("short", "--expires", "2s")["code"]
    with transport() as connected:
        connected.auth_password("run", short)
        assert run_on(connected, "echo now")[1] == b"now\n"
        wait_until(lambda: not lets_in("run", short), 10, "it has expired")
        status, _ = run_on(connected, "echo later")
        assert status == 125, status  # nothing new on a connection whose invite is over
    code = invite("gone")["code"]
    with transport() as connected:
        connected.auth_password("run", code)
        channel = connected.open_session()
        channel.exec_command("sleep 60")
        wait_until(service.jails, 10, "the jail is listed")
        assert mayfly("invite", "revoke", "gone") == "revoked: gone; jails ended: 1\n"
        wait_until(lambda: not service.jails(), 5, "its jail is gone")
        assert b"ending=killed" in channel.makefile_stderr("rb").read()
        assert run_on(connected, "echo more")[0] == 125  # the connection is there, and of no use
    assert not lets_in("run", code)
    # As long as a connection that came in by it is there, taking it back again is no mistake.
    wait_until(lambda: service.mayfly("invite", "revoke", "gone", "--state", service.state).returncode == 1, 10, "nothing is left of it")
    assert "there is no invite" in mayfly("invite", "revoke", "gone", status=1)


def test_an_invite_that_is_used_up_can_be_revoked_and_one_that_cannot_be_written_too():
    code = invite("once", "--uses", "1")["code"]
    with transport() as connected:
        connected.auth_password("run", code)
        assert [row for row in json.loads(mayfly("invite", "list", "--json")) if row["name"] == "once"][0]["usesLeft"] == 0
        assert run_on(connected, "echo in")[1] == b"in\n"
        mayfly("invite", "revoke", "once")
        assert run_on(connected, "echo in")[0] == 125
    code = invite("lost")["code"]
    in_the_way = f"{service.state}/invites.json.new"
    os.mkdir(in_the_way)
    try:
        assert "only until the service starts anew" in mayfly("invite", "revoke", "lost", status=1)
        assert not lets_in("run", code)
    finally:
        os.rmdir(in_the_way)


def test_making_invites_leaves_a_line():
    invite("line", "--profile", "python")
    assert re.search(rf"info operator.invite uid={os.getuid()} invite=line count=1 profile=python", service.log_text())


def test_a_class_gets_a_table():
    text = mayfly("invite", "--name", "class", "--profile", "python", "--expires", "7d", "--count", "30", "--csv")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["name"] for row in rows] == [f"class-{number:02}" for number in range(1, 31)]
    assert len({row["code"] for row in rows}) == 30 and rows[0]["ssh"].endswith("python@127.0.0.1")
    assert lets_in("python", rows[29]["code"])
    listed = json.loads(mayfly("invite", "list", "--json"))
    assert len([row for row in listed if row["name"].startswith("class-")]) == 30 and "code" not in listed[0]
    assert "class-30" in mayfly("invite", "list")
    assert "already" in mayfly("invite", "--name", "class", "--count", "3", status=1)


def test_bad_orders_are_refused_by_name_and_make_nothing():
    before = mayfly("invite", "list")
    for words, part in ((["--name", ""], "--name"), ([], "--name"), (["--name", "a b"], "name"), (["--name", "-x"], "name"),
                        (["--name", "b", "--profile", "cobol"], "known here: run, python"), (["--name", "b", "--expires", "0s"], "366d"),
                        (["--name", "b", "--expires", "400d"], "366d"), (["--name", "b", "--count", "501"], "500"),
                        (["--name", "b", "--uses", "0"], "1"), (["--name", "b", "--host", "a b"], "--host"),
                        (["--name", "b" * 41], "40")):
        done = service.mayfly("invite", *words, "--state", service.state)
        assert done.returncode in (1, 2) and part in done.stderr.decode(), (words, done)
    assert mayfly("invite", "list") == before


def test_only_a_digest_is_kept_and_nothing_is_logged():
    code = invite("secret")["code"]
    assert lets_in("run", code)
    plain = code.replace("-", "")
    file = f"{service.state}/invites.json"
    assert os.stat(file).st_mode & 0o777 == 0o600
    for folder, _, names in os.walk(service.state):
        for name in names:
            with contextlib.suppress(OSError), open(os.path.join(folder, name), "rb") as some:
                text = some.read().lower()
                assert code.encode() not in text and plain.encode() not in text, name
    assert code not in service.log_text() and plain not in service.log_text()


def test_a_key_is_let_in_with_what_its_line_says():
    free, forced, away, late, other = (make_key(name) for name in ("free", "forced", "away", "late", "other"))
    authorize(f"restrict {free}", f'command="echo only this; cat" {forced}', f'from="192.0.2.0/24" {away}',
              f'expiry-time="20200101" {late}')
    assert ssh_with_key("free", "echo yes").stdout == b"yes\n"
    assert ssh_with_key("free", "print(6*7)", user="python").stdout == b"42\n"
    assert ssh_with_key("free", "true", user="nobody").returncode == 255
    assert ssh_with_key("forced", "rm -rf /", input=b"stdin\n").stdout == b"only this\nstdin\n"
    assert ssh_with_key("forced", input=b"").stdout == b"only this\n"
    for name in ("away", "late", "other"):
        done = ssh_with_key(name, "true")
        assert done.returncode == 255 and b"Permission denied" in done.stderr, (name, done)
    fingerprint = subprocess.run(["ssh-keygen", "-lf", path("free")], capture_output=True, text=True).stdout.split()[1]
    assert f"principal=key:{fingerprint}" in service.log_text()
    with transport() as connected:
        connected.auth_publickey("run", paramiko.Ed25519Key.from_private_key_file(path("free")))
        assert run_on(connected, "echo in")[1] == b"in\n"
        authorize(f"restrict {other}")  # from the next login and the next jail on
        assert run_on(connected, "echo out") == (125, b"")
    assert ssh_with_key("free", "true").returncode == 255
    assert re.search(r"info login.key_refused key=SHA256:\S+ source=127.0.0.1 why=\"key not good from there\"", service.log_text())
    assert re.search(r"info login.key_refused key=SHA256:\S+ source=127.0.0.1 why=\"expired key\"", service.log_text())
    assert ssh_with_key("other", "true").returncode == 0


def test_a_line_that_is_not_understood_lets_nobody_in_and_says_so():
    good, odd = make_key("good"), make_key("odd")
    authorize(f"no-such-option {odd}", f"cert-authority {odd}", good)
    assert ssh_with_key("odd", "true").returncode == 255
    assert ssh_with_key("good", "true").returncode == 0
    assert re.search(r"error keys.line_refused file=\S+ line=1: .*no-such-option", service.log_text()), service.log_text()
    os.chmod(KEYS, 0o666)  # whoever can write to it chooses who comes in
    assert ssh_with_key("good", "true").returncode == 255
    assert "chmod go-w" in service.log_text()


def test_a_small_rsa_key_is_refused_at_once_and_the_code_still_works():
    make_key("small", "-t", "rsa", "-b", "2048")
    code = invite("rsa")["code"]
    with transport() as connected:
        began = time.monotonic()
        try:
            connected.auth_publickey("run", paramiko.RSAKey.from_private_key_file(path("small")))
            assert False, "let in"
        except paramiko.AuthenticationException:
            pass
        assert time.monotonic() - began < 5
        connected.auth_password("run", code)
        assert run_on(connected, "echo in")[1] == b"in\n"


def test_nobody_else_comes_in():
    with transport() as connected:
        try:
            connected.auth_none("run")
            assert False, "let in without anything"
        except paramiko.BadAuthenticationType as refused:
            assert set(refused.allowed_types) == {"publickey", "password", "keyboard-interactive"}, refused.allowed_types
    assert not lets_in("run", "letmein")


def test_invites_outlive_the_service_and_a_file_that_is_broken_lets_nobody_in():
    code = invite("lasting")["code"]
    service.end()
    service.begin()
    assert lets_in("run", code)
    service.end()
    file = f"{service.state}/invites.json"
    with open(file) as kept:
        text = kept.read()
    with open(file, "w") as broken:
        broken.write(text[:-20])
    service.begin()
    assert not lets_in("run", code) and "invites.unreadable" in service.log_text()
    assert "invites.json" in mayfly("invite", "--name", "more", status=1)
    with open(file) as kept:
        assert kept.read() == text[:-20]  # nothing was written over it
    service.end()
    with open(file, "w") as mended:
        mended.write(text)
    service.begin()
    assert lets_in("run", code)


def test_where_invites_are_no_way_in_none_are_made():
    other = Service()
    try:
        done = other.mayfly("invite", "--name", "ana", "--state", other.state)
        assert done.returncode == 1 and b"access.ssh" in done.stderr, done
    finally:
        other.stop()


if __name__ == "__main__":
    run_tests(sys.modules[__name__])
