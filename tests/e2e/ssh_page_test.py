"""docs/ssh.md: every block that begins with "$ " is run and prints what the page says; its table of log lines is whole.

The blocks up to "For teachers" meet a service with open access, the others one with invites and keys, both in the order
of the page and in one folder each. Ids, codes, dates and keys are whatever they are.
"""
import atexit
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import BIN, Service, run_tests  # noqa: E402

SOURCE = os.environ["MAYFLY_SOURCE"]
SECONDS = 120
# What differs from run to run, and what stands for it.
VARYING = ((r"j_[a-z2-7]{26}", "<jail>"), (r"([0-9a-hjkmnp-tv-z]{5}-){3}[0-9a-hjkmnp-tv-z]{5}", "<code>"),
           (r"SHA256:[A-Za-z0-9+/]{43}", "<fingerprint>"), (r"ssh-ed25519 [A-Za-z0-9+/]{68}", "<key>"), (r"\b[0-9a-f]{64}\b", "<digest>"),
           (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\dZ)?", "<time>"), (r"[ \t]+(?=\n|$)", ""), (r"\r", ""))
# `ssh` as a person has it who knows the host key and has no key; the prompts that a program answers are shown.
SSH_PROGRAM = "#!/bin/sh\nexec /usr/bin/ssh -F {folder}/config \"$@\"\n"
SSH_CONFIG = "UserKnownHostsFile {folder}/known_hosts\nGlobalKnownHostsFile /dev/null\nStrictHostKeyChecking yes\nPubkeyAuthentication no\n"
ASKPASS = "#!/bin/sh\necho \"$1\" >&2\ncat {folder}/code\n"

with open(f"{SOURCE}/docs/ssh.md", encoding="utf-8") as page_file:
    PAGE = page_file.read()
folder = tempfile.TemporaryDirectory(prefix="mayfly-ssh-page-")


def steps_of(text):
    """[(command, what it prints)] of the blocks that begin with a command."""
    found = []
    for block in re.findall(r"^```\n(\$ .*?)^```$", text, re.MULTILINE | re.DOTALL):
        for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = step.partition("\n")
            found.append((command, output))
    return found


def normal(text):
    for pattern, word in VARYING:
        text = re.sub(pattern, word, text)
    return text


class Reader:
    """Somebody who types what the page says."""

    def __init__(self, name, service):
        self.service = service
        self.folder = f"{folder.name}/{name}"
        self.work = f"{self.folder}/work"
        os.makedirs(self.work)
        self.write("ssh", SSH_PROGRAM.format(folder=self.folder), 0o700)
        self.write("config", SSH_CONFIG.format(folder=self.folder), 0o600)
        self.write("askpass", ASKPASS.format(folder=self.folder), 0o700)
        self.write("code", "", 0o600)
        self.environment = {"PATH": f"{self.folder}:{BIN}:/usr/bin:/bin", "HOME": self.work, "LANG": "C.UTF-8", "MAYFLY_STATE": service.state,
                            "SSH_ASKPASS": f"{self.folder}/askpass", "SSH_ASKPASS_REQUIRE": "force"}
        status, line = self.types(f"mayfly hostkey --host 127.0.0.1 --port {service.ssh_port} --known-hosts")
        assert status == 0 and line, line
        self.write("known_hosts", line, 0o600)

    def write(self, name, text, mode):
        with open(f"{self.folder}/{name}", "w") as file:
            file.write(text)
        os.chmod(f"{self.folder}/{name}", mode)

    def types(self, command):
        """Its status and all that it shows. Into a file: `ssh -f` leaves a process that would hold a pipe open."""
        with open(f"{self.folder}/shown", "w+b") as shown:
            done = subprocess.run(["/bin/bash", "-c", command.replace("2222", str(self.service.ssh_port))], cwd=self.work,
                                  env=self.environment, stdin=subprocess.DEVNULL, stdout=shown, stderr=shown, timeout=SECONDS)
            shown.seek(0)
            return done.returncode, shown.read().decode()

    def follows(self, steps):
        for command, output in steps:
            status, shown = self.types(command)
            shown = shown.replace(str(self.service.ssh_port), "2222")
            assert normal(shown) == normal(output), f"$ {command}\n--- shown (status {status})\n{shown}--- the page says\n{output}"
            if code := re.search(VARYING[1][0], shown):
                self.write("code", code.group() + "\n", 0o600)  # the first of several


USERS, _, REST = PAGE.partition("## For teachers")
CONFIGURATION = re.search(r"^```jsonc\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL).group(1)


def configuration_with(**keys):
    name = f"{folder.name}/with-{'-'.join(keys)}.jsonc"
    with open(name, "w") as file:
        json.dump(keys, file)
    return name


def the_class():
    """The page's profiles, with their folders where this test may make them."""
    text = re.search(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL).group(1)
    for name, line in (("exercise/exercise.py", "# Print the mean of what was measured.\n"), ("data/measured.csv", "3,4,5\n")):
        path = f"{folder.name}/class/{name}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(line)
    os.chmod(folder.name, 0o755)  # as root, programs in jails run under ids of their own
    return json.loads(text.replace("/srv/class", f"{folder.name}/class"))["profiles"]


def test_the_page_has_enough_to_run():
    assert len(steps_of(USERS)) >= 15 and len(steps_of(REST)) >= 6, (len(steps_of(USERS)), len(steps_of(REST)))
    everything = " ".join(command for command, _ in steps_of(PAGE))
    for word in ("tar c", "| ssh -p 2222 python@", "mayfly invite --name", "mayfly hostkey"):
        assert word in everything, word
    assert "status 137" in PAGE


def test_a_user_sees_what_the_page_says():
    service = Service()
    atexit.register(service.stop)
    Reader("user", service).follows(steps_of(USERS))


def test_a_teacher_and_an_operator_see_what_the_page_says():
    service = Service("--config", configuration_with(access={"ssh": ["invites", "keys"], "authorizedKeys": f"{folder.name}/authorized_keys"},
                                                     profiles=the_class()), open_door=False)
    atexit.register(service.stop)
    Reader("teacher", service).follows(steps_of(REST))


def test_the_worked_configuration_is_accepted():
    name = f"{folder.name}/page.jsonc"
    with open(name, "w") as file:
        file.write(CONFIGURATION)
    done = subprocess.run([f"{BIN}/mayfly", "serve", "--check", "--config", name], capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0 and done.stdout.startswith("ok"), done


def sources(*names):
    for name in names:
        path = os.path.join(SOURCE, name)
        files = [path] if os.path.isfile(path) else [os.path.join(root, file) for root, _, inside in os.walk(path) for file in inside]
        for file in files:
            with open(file, encoding="utf-8") as text:
                yield text.read()


def test_the_tables_of_the_log_are_whole():
    table = PAGE.split("### The log", 1)[1].split("\n## ", 1)[0]
    logged = set()
    reasons = set()
    for text in sources("sshd", "jail/supervisor/logins.cpp", "jail/supervisor/operator.cpp", "jail/supervisor/supervisor.cpp",
                        "jail/supervisor/supervisor_jails.cpp"):
        logged.update(re.findall(r'"((?:sshd|keys|invites|login|operator)\.[a-z_]+|jail\.(?:ended|refused))"', text))
        reasons.update(re.findall(r'leave_for\("([^"]+)"', text))
        reasons.update(re.findall(r'"why", "([^"]+)"', text))
    told = set(re.findall(r"`((?:sshd|keys|invites|login|operator|jail)\.[a-z_]+)`", table)) - {"invites.json"}
    assert logged == told, (sorted(logged - told), sorted(told - logged))
    assert len(reasons) >= 10 and all(f"`{reason}`" in table for reason in reasons), [reason for reason in reasons if f"`{reason}`" not in table]


if __name__ == "__main__":
    run_tests(sys.modules[__name__])
