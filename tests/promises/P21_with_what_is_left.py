#!/usr/bin/env python3
"""P21: without root everything still works with what is left, and says what is missing."""
import json
import os
import subprocess
from unittest import mock

from mayfly import Promise, main

ALWAYS = {"network": "none", "filesystem": "ephemeral", "environment": "cleared", "privileges": "none",
          "syscalls": "seccomp", "time": "supervisor", "output": "witness"}


def uids_with_an_entry():
    if not os.path.exists("/etc/passwd"):
        return set()
    with open("/etc/passwd", encoding="utf-8") as lines:
        return {int(line.split(":")[2]) for line in lines}


class WithWhatIsLeft(Promise):
    def test_an_ordinary_user_gets_a_jail_that_says_what_it_lacks(self):
        result = self.user.result(["true"])
        self.assertEqual(result["ending"], "exited")
        for name, value in ALWAYS.items():
            self.assertEqual(result["controls"][name], value, name)
        self.assertEqual(result["controls"]["identity"], "user-namespace-shared-uid")
        self.assertNotIn(result["controls"]["processes"], ("unlimited", "absent"))

    def test_root_gets_uids_of_its_own(self):
        controls = self.root.result(["true"])["controls"]
        self.assertEqual(controls["identity"], "user-namespace")
        for name, value in ALWAYS.items():
            self.assertEqual(controls[name], value, name)

    def test_a_root_that_lacks_what_jails_take_gets_what_an_ordinary_user_gets(self):
        without = ["/usr/bin/setpriv", "--bounding-set", "-chown", "--inh-caps", "-chown", self.root.program, "run", "--json", "--", "true"]
        done = subprocess.run(without, env=self.root.environment, cwd="/", capture_output=True, timeout=60, check=False)
        self.assertEqual(json.loads(done.stdout)["controls"]["identity"], "user-namespace-shared-uid", done.stderr)

    def test_without_a_home_it_runs_where_the_user_has_an_entry_and_else_says_what_to_do(self):
        for who in self.everybody():
            has_entry = who.uid in uids_with_an_entry()
            with mock.patch.dict(who.environment):
                for name in ("HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"):
                    del who.environment[name]
                done = who.run(["echo", "it ran"])
            self.assertEqual((done.returncode, done.stdout), (0, b"it ran\n") if has_entry else (125, b""), done.stderr)
            self.assertEqual(b"--state" in done.stderr, not has_entry)

    def test_a_user_in_the_hosts_group_0_sees_no_more_in_proc(self):
        seen = ["/usr/bin/setpriv", "--reuid", str(self.user.uid), "--regid", "0", "--clear-groups", self.user.program, "run", "--", "sh",
                "-c", "ls -d /proc/[0-9]* | grep -cx /proc/1; ls -d /proc/$$ | grep -cx /proc/$$"]
        done = subprocess.run(seen, env=self.user.environment, cwd="/", capture_output=True, timeout=60, check=False)
        had_proc = self.user.result(["true"])["controls"]["proc"] != "absent"
        self.assertEqual(done.stdout, b"0\n1\n" if had_proc else b"0\n0\n", done.stderr)

    def test_a_required_control_that_is_absent_means_no_jail(self):
        for who in self.everybody():
            controls = who.result(["true"])["controls"]
            for name in ("memory", "cpu", "files", "proc"):
                done = who.run(["echo", "it ran"], "--require", name)
                absent = controls[name] in ("unlimited", "absent")
                self.assertEqual(done.returncode, 125 if absent else 0, f"{name}: {controls[name]}")
                self.assertEqual(b"it ran" in done.stdout, not absent)
                if absent:
                    self.assertIn(name.encode(), done.stderr)


main()
