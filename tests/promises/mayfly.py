"""How the promise scripts call `mayfly run`: as root, and as an ordinary user, with a state folder of their own.

  class Exits(Promise):
      def test_...(self):
          for who in self.everybody():
              done = who.run(["sh", "-c", "exit 3"])
"""
import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

BIN = os.environ.get("MAYFLY_BIN", "")
PROGRAMS = ("mayfly", "mayfly-supervisor", "mayfly-builder", "mayfly-witness", "mayfly-probe")
ORDINARY_UID = 61234  # nobody's on a Debian system
PATIENCE = 60         # seconds; far more than any of these runs takes
SKIPPED = 77


class Caller:
    """Root, or an ordinary user; calls a copy of the programs that both may read."""

    def __init__(self, folder, uid):
        self.uid = uid
        self.name = "root" if uid == 0 else "an ordinary user"
        self.program = os.path.join(folder, "bin", "mayfly")
        home = os.path.join(folder, f"home-{uid}")
        os.makedirs(home, mode=0o700)
        os.chown(home, uid, uid)
        self.environment = {"PATH": "/usr/bin:/bin", "HOME": home, "XDG_STATE_HOME": home + "/state",
                            "XDG_RUNTIME_DIR": home, "MAYFLY_SECRET": "must-not-arrive"}

    def popen(self, words, **options):
        return subprocess.Popen([self.program, *words], env=self.environment, user=self.uid, group=self.uid,
                                extra_groups=[], cwd="/", **options)

    def call(self, words, stdin=b""):
        with self.popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            out, err = process.communicate(stdin, timeout=PATIENCE)
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def run(self, command, *options, stdin=b""):
        """mayfly run OPTIONS -- COMMAND"""
        return self.call(["run", *options, "--", *command], stdin)

    def result(self, command, *options, stdin=b""):
        """The result object of the run."""
        return json.loads(self.run(command, "--json", *options, stdin=stdin).stdout)

    def python(self, code, *options, stdin=b""):
        return self.run(["python3", "-I", "-c", code], *options, stdin=stdin)


class Promise(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.mkdtemp(prefix="mayfly-promise-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        os.chmod(folder, 0o755)
        os.makedirs(os.path.join(folder, "bin"))
        for name in PROGRAMS:
            shutil.copy(os.path.join(BIN, name), os.path.join(folder, "bin"))
        cls.root = Caller(folder, 0)
        cls.user = Caller(folder, ORDINARY_UID)

    def everybody(self):
        for who in (self.root, self.user):
            with self.subTest(who=who.name):
                yield who


def main():
    if os.geteuid() != 0:
        print("mayfly-skip: needs root")
        sys.exit(SKIPPED)
    if not os.access(os.path.join(BIN, "mayfly"), os.X_OK):
        print("MAYFLY_BIN names no folder with a mayfly in it")
        sys.exit(1)
    unittest.main(verbosity=2)
