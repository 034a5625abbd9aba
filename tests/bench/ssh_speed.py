"""What is measured over SSH beside stock OpenSSH: promises P82, P83 and P86.

Both sides run a command with /bin/sh: OpenSSH's user has an entry of its own in /etc/passwd, because bash reads ~/.bashrc
when sshd starts it, and on a developer's machine that alone may take longer than all the rest.

Most of stock OpenSSH's time is delayed acknowledgements: its small packets wait (Nagle) until the peer's kernel has
acknowledged the one before. So it listens at two addresses, and on the route to one of them acknowledgements are never
delayed (ip-route(8), quickack): that one is the honest comparison.
"""
import contextlib
import ctypes
import os
import shutil
import subprocess
import sys
import time

from paired import nothing, report, spawn

STOCK, QUICK = "127.0.0.1", "127.0.0.2"
UNJAILED, AVOIDED, OURS = "OpenSSH", "OpenSSH, delayed ACKs avoided", "mayfly, new jail"
BULK = 256 << 20
USER, USER_ID = "mayfly-bench", 61235  # nobody's on a Debian system


def enter_own_namespaces(folder):
    """From here on this process and its children have a network and a mount table of their own: the changed route and the
    user of the comparison are seen by nobody else."""
    clone_newns, clone_newnet = 0x00020000, 0x40000000
    if ctypes.CDLL(None, use_errno=True).unshare(clone_newns | clone_newnet) != 0:
        sys.exit(f"P82, P83 and P86 need root: no namespaces ({os.strerror(ctypes.get_errno())})")
    os.chmod(folder, 0o755)
    os.mkdir(f"{folder}/home")
    with open("/etc/passwd") as table, open(f"{folder}/passwd", "w") as copy:
        copy.write(table.read() + f"{USER}:*:{USER_ID}:{USER_ID}::{folder}/home:/bin/sh\n")
    os.chown(f"{folder}/home", USER_ID, USER_ID)
    os.chmod(f"{folder}/passwd", 0o644)
    for words in ("/usr/bin/mount --make-rprivate /", f"/usr/bin/mount --bind {folder}/passwd /etc/passwd", "/usr/sbin/ip link set lo up",
                  f"/usr/sbin/ip route replace table local local {QUICK}/32 dev lo quickack 1"):
        subprocess.run(words.split(), check=True)


def ssh_argv(cipher="aes128-ctr"):
    # For chacha20-poly1305, which authenticates by itself, no MAC is agreed on.
    return ["/usr/bin/ssh", "-F", "none", "-q", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o",
            "KexAlgorithms=curve25519-sha256", "-o", f"Ciphers={cipher}", "-o", "MACs=hmac-sha2-256-etm@openssh.com"]


class OpenSsh(contextlib.AbstractContextManager):
    """A stock sshd with a key for this run."""

    def __init__(self, folder, port=22923):
        self.port, self.key, self.folder = port, f"{folder}/user_key", folder
        for name in ("host_key", "user_key"):
            subprocess.run(["/usr/bin/ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{folder}/{name}"], check=True)
        shutil.copy(f"{folder}/user_key.pub", f"{folder}/authorized_keys")
        os.makedirs("/run/sshd", exist_ok=True)
        self.process = subprocess.Popen(["/usr/sbin/sshd", "-D", "-e", "-f", "/dev/null", "-p", str(port), "-o",
                                         f"ListenAddress={STOCK}", "-o", f"ListenAddress={QUICK}", "-o",
                                         f"HostKey={folder}/host_key", "-o", f"AuthorizedKeysFile={folder}/authorized_keys",
                                         "-o", "StrictModes=no", "-o", "PidFile=none", "-o", "UsePAM=no"],
                                        stderr=subprocess.DEVNULL)
        time.sleep(1)

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=10)

    def command(self, address, words, *options, cipher="aes128-ctr"):
        return [*ssh_argv(cipher), *options, "-i", self.key, "-p", str(self.port), f"{USER}@{address}", words]


def our_command(port, words, *options, cipher="aes128-ctr"):
    return [*ssh_argv(cipher), *options, "-o", "PubkeyAuthentication=no", "-p", str(port), "run@127.0.0.1", words]


def subjects_of(commands):
    return {name: lambda argv=argv: spawn(argv) for name, argv in commands.items()}


def fresh_connections(runs, port, openssh):
    commands = {UNJAILED: openssh.command(STOCK, "true"), AVOIDED: openssh.command(QUICK, "true"), OURS: our_command(port, "true")}
    report("P82 fresh connection", lambda: (subjects_of(commands), nothing), runs, {OURS: {UNJAILED: 0.2, AVOIDED: 0.6}})


def multiplexed_connections(runs, port, openssh):
    def through(number):
        return "-S", f"{openssh.folder}/{number}.sock"

    commands = {UNJAILED: openssh.command(STOCK, "true", *through(0)), AVOIDED: openssh.command(QUICK, "true", *through(1)),
                OURS: our_command(port, "true", *through(2))}
    masters = [subprocess.Popen([*argv[:-2], "-M", "-N", argv[-2]]) for argv in commands.values()]
    try:
        for number in range(len(masters)):
            for _ in range(100):
                if os.path.exists(f"{openssh.folder}/{number}.sock"):
                    break
                time.sleep(0.05)
        report("P83 multiplexed connection", lambda: (subjects_of(commands), nothing), runs, {OURS: {UNJAILED: 1.1, AVOIDED: 1.1}})
    finally:
        for master in masters:
            master.terminate()
            master.wait(timeout=10)


def bulk_output(runs, port, openssh):
    """The whole command: connecting is a hundredth of it. Throughput of at least 0.9 is a time of at most 1 / 0.9."""
    words = f"head -c {BULK} /dev/zero"
    for cipher in ("aes128-ctr", "chacha20-poly1305@openssh.com"):
        commands = {UNJAILED: openssh.command(STOCK, words, cipher=cipher), OURS: our_command(port, words, cipher=cipher)}
        report(f"P86 {BULK >> 20} MiB of output, {cipher}", lambda: (subjects_of(commands), nothing), max(1, runs // 10),
               {OURS: {UNJAILED: 1 / 0.9}}, paces=(True,))


MEASURE = {"P82": fresh_connections, "P83": multiplexed_connections, "P86": bulk_output}
