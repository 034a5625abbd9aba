#!/usr/bin/env python3
"""P34: truncation is always visible: a flag, the total count, head and tail."""
from mayfly import Promise, main

TOTAL = 20 << 20
WRITE = f"import sys; sys.stdout.write('a' * ({TOTAL} - 5) + 'tail\\n'); print('short', file=sys.stderr)"


class Truncation(Promise):
    def test_a_long_output_is_cut_and_says_so(self):
        for who in self.everybody():
            result = who.result(["python3", "-I", "-c", WRITE])
            self.assertEqual(result["exitCode"], 0)  # it is drained, not killed
            self.assertEqual(result["truncated"], {"stdout": True, "stderr": False})
            self.assertEqual(result["bytes"], {"stdout": TOTAL, "stderr": 6})
            self.assertTrue(result["stdout"].startswith("aaaa"))
            self.assertLess(len(result["stdout"]), TOTAL)
            self.assertTrue(result["tail"]["stdout"].endswith("tail\n"))
            self.assertIn("output", result["limitsReached"])

    def test_a_short_output_has_no_tail(self):
        result = self.root.result(["echo", "hi"])
        self.assertEqual((result["stdout"], result["tail"]), ("hi\n", {"stdout": None, "stderr": None}))


main()
