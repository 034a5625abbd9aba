"""mayfly hostkey: what it writes for known_hosts and for the DNS is what OpenSSH writes and reads."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e"))
from harness import BIN, Service, run_tests  # noqa: E402

FOLDER = tempfile.TemporaryDirectory(prefix="mayfly-hostkey-")
STATE = FOLDER.name
PUBLIC = f"{STATE}/key.pub"


def ran(*words):
    return subprocess.run(words, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)


def hostkey(*options):
    return ran(f"{BIN}/mayfly", "hostkey", "--state", STATE, *options)


def said(*options):
    done = hostkey(*options)
    assert done.returncode == 0 and done.stderr == "", done
    return done.stdout


def make_key():
    private = ran(f"{BIN}/mayfly-sshd", "--generate-host-key").stdout
    with open(os.open(f"{STATE}/host_key", os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        file.write(private)
    # The stock tool's own reading of the private key, not ours.
    with open(PUBLIC, "w") as file:
        file.write(ran("ssh-keygen", "-y", "-f", f"{STATE}/host_key").stdout)


make_key()


def known_hosts(*options):
    path = f"{STATE}/known_hosts"
    with open(path, "w") as file:
        file.write(said("--known-hosts", *options))
    return path


def test_four_lines_tell_everything_and_options_one_of_them():
    key, fingerprint, known, sshfp = said().splitlines()
    with open(PUBLIC) as file:
        assert key.split() == file.read().split()[:2]
    assert fingerprint == ran("ssh-keygen", "-lf", PUBLIC).stdout.split()[1]
    assert known == f"[127.0.0.1]:2222 {key}"
    assert said("--known-hosts") == known + "\n" and said("--sshfp") == sshfp + "\n"


def test_json_has_the_same_four():
    key, fingerprint, known, sshfp = said("--host", "jail.example.org", "--port", "22").splitlines()
    assert known == f"jail.example.org {key}"
    assert json.loads(said("--json", "--host", "jail.example.org", "--port", "22")) == {
        "publicKey": key, "fingerprint": fingerprint, "knownHosts": known, "sshfp": sshfp}


def test_ssh_keygen_writes_the_same_sshfp_record():
    for host in ("jail.example.org", "jail.example.org."):
        stock = ran("ssh-keygen", "-r", host, "-f", PUBLIC).stdout.splitlines()
        assert said("--sshfp", "--host", host).strip() in stock, stock


def test_ssh_keygen_finds_the_host_in_known_hosts():
    for options, wanted, other in (((), "[127.0.0.1]:2222", "127.0.0.1"), (("--port", "22"), "127.0.0.1", "[127.0.0.1]:2222"),
                                   (("--host", "::1", "--port", "2022"), "[::1]:2022", "::1"), (("--host", "::1", "--port", "22"), "::1", "[::1]:2222"),
                                   (("--host", "Jail.Example.org"), "[jail.example.org]:2222", "jail.example.org")):
        path = known_hosts(*options)
        found = ran("ssh-keygen", "-F", wanted, "-f", path)
        assert found.returncode == 0 and said().splitlines()[0] in found.stdout, (options, found)
        assert ran("ssh-keygen", "-F", other, "-f", path).returncode == 1, (options, other)


def test_a_host_that_is_none_and_a_port_that_is_none_are_refused():
    for options, status, part in ((("--host", "a b"), 1, "a b"), (("--host", "*"), 1, "jail.example.org"), (("--host", ""), 1, "jail.example.org"),
                                  (("--host", "a\nb"), 1, "a\\"), (("--port", "0"), 2, "--port"), (("--port", "65536"), 2, "--port"),
                                  (("--port", "ssh"), 2, "--port"), (("--json", "--sshfp"), 2, "--sshfp"),
                                  (("--known-hosts", "--sshfp"), 2, "--known-hosts")):
        done = hostkey(*options)
        assert done.returncode == status and done.stdout == "", (options, done)
        assert done.stderr.startswith("mayfly: ") and done.stderr.count("\n") == 1 and part in done.stderr, (options, done)


def test_ssh_asks_nothing_once_the_line_is_in_known_hosts():
    service = Service()
    try:
        line = service.mayfly("hostkey", "--state", service.state, "--known-hosts", "--port", str(service.ssh_port)).stdout
        path = f"{STATE}/of_the_service"
        with open(path, "wb") as file:
            file.write(line)
        strict = ["ssh", "-F", "none", "-o", "StrictHostKeyChecking=yes", "-o", f"UserKnownHostsFile={path}", "-o", "BatchMode=yes",
                  "-o", "GlobalKnownHostsFile=/dev/null", "-p", str(service.ssh_port), "run@127.0.0.1", "echo in"]
        assert ran(*strict).stdout == "in\n", ran(*strict)
        with open(path, "w") as file:
            file.write(said("--known-hosts", "--port", str(service.ssh_port)))  # another service's key
        refused = ran(*strict)
        assert refused.returncode == 255 and "Host key verification failed" in refused.stderr, refused
    finally:
        service.stop()


if __name__ == "__main__":
    run_tests(sys.modules[__name__])
