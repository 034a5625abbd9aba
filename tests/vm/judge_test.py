#!/usr/bin/env python3
"""The judge of the virtual machine's results must find every way in which a run can be worth nothing."""
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from run import judge  # noqa: E402

TESTS = [["cgroup", "root", "/cgroup"], ["engine", "root", "/engine"]]
GOOD = "VMRESULT cgroup 0\nVMRESULT engine 0\nVMEND\n"


class Judge(unittest.TestCase):
    def complaints(self, text):
        with tempfile.NamedTemporaryFile("w", suffix=".results", encoding="utf-8") as results:
            results.write(text)
            results.flush()
            return judge(TESTS, results.name)

    def test_a_full_run_is_accepted(self):
        self.assertEqual(self.complaints(GOOD), [])

    def test_no_results_at_all_fail(self):
        self.assertEqual(len(self.complaints("")), 3)

    def test_a_missing_test_fails(self):
        self.assertEqual(self.complaints("VMRESULT cgroup 0\nVMEND\n"), ["engine: no result"])

    def test_a_failed_test_fails(self):
        self.assertEqual(self.complaints(GOOD.replace("engine 0", "engine 1")), ["engine: exit status 1"])

    def test_a_test_that_skipped_itself_fails(self):
        self.assertEqual(self.complaints(GOOD.replace("engine 0", "engine 77")), ["engine: exit status 77"])

    def test_a_machine_that_died_on_the_way_fails(self):
        self.assertEqual(self.complaints(GOOD.replace("VMEND\n", "")), ["the machine did not reach its end"])


if __name__ == "__main__":
    unittest.main()
