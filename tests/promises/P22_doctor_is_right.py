#!/usr/bin/env python3
"""P22: `mayfly doctor` is true before the first run: what it says is what a run beside it then meets."""
import json
import os

from mayfly import Promise, main

ABSENT = ("unlimited", "absent")
EATER = "x = bytearray(200 << 20); print('it fits')"
# Attacks that an ordinary user's control run can do outside too, so that "held" means that the jail held.
PROVABLE_BY_ANYBODY = {"network-out", "host-loopback", "host-abstract-socket", "read-host-file", "see-host-process",
                       "list-host-processes", "user-namespace", "trace-process", "processes", "disk", "cpu", "sleep"}


class DoctorIsRight(Promise):
    examined = {}  # one examination of each; it takes seconds

    def examine(self, who):
        if who.name not in self.examined:
            done = who.call(["doctor", "--json"])
            self.assertEqual(done.returncode, 0, done)
            self.examined[who.name] = json.loads(done.stdout)
        return self.examined[who.name]

    def test_the_attacks_fail_inside_and_work_outside(self):
        for who in self.everybody():
            found = self.examine(who)
            self.assertTrue(found["sound"])
            self.assertEqual(found["problems"], [])
            verdicts = {row["attack"]: row["verdict"] for row in found["attacks"]}
            self.assertNotIn("broken", verdicts.values(), verdicts)
            self.assertEqual({name for name in PROVABLE_BY_ANYBODY if verdicts[name] != "held"}, set())
            if who is self.root:
                for name in ("mount", "setuid-file", "write-usr", "make-device", "become-root", "memory"):
                    self.assertEqual(verdicts[name], "held", name)

    def test_a_run_beside_it_reports_the_same_controls(self):
        for who in self.everybody():
            self.assertEqual(self.examine(who)["controls"], who.result(["true"])["controls"])

    def test_what_it_calls_unlimited_is_and_what_it_calls_limited_is(self):
        for who in self.everybody():
            controls = self.examine(who)["controls"]
            done = who.python(EATER, "--memory", "64M")
            if controls["memory"] in ABSENT:
                self.assertEqual((done.returncode, done.stdout), (0, b"it fits\n"), done)
            else:
                self.assertEqual(done.returncode, 137, done)
                self.assertIn(b"ending=memory-limit", done.stderr)

    def test_what_is_missing_has_a_cause_and_a_fix_and_what_is_there_has_none(self):
        for who in self.everybody():
            found = self.examine(who)
            for name, told in found["expected"].items():
                self.assertEqual(told["value"], found["controls"][name])
                missing = told["value"] in (*ABSENT, "rlimit", "user-namespace-shared-uid")
                self.assertEqual(bool(told["cause"] and told["fix"]), missing, f"{name}: {told}")

    def test_a_required_control_that_is_absent_is_named_with_its_fix_and_no_jail_is_tried(self):
        for who in self.everybody():
            config = os.path.join(who.environment["HOME"], "strict.jsonc")
            with open(config, "w", encoding="utf-8") as text:
                text.write('{"require": ["memory"]}')
            os.chmod(config, 0o644)
            done = who.call(["doctor", "--json", "--no-cgroups", "--config", config])
            found = json.loads(done.stdout)
            self.assertEqual((done.returncode, found["sound"], found["attacks"]), (1, False, []), done)
            told = found["expected"]["memory"]
            self.assertIn(told["value"], ABSENT)
            self.assertIn("the required control memory is absent", found["problems"][0])
            self.assertTrue(told["fix"] and told["fix"] in found["problems"][0], found["problems"])
            self.assertEqual(set(found["controls"].values()), {"absent"}, "nothing was measured")



main()
