#!/usr/bin/env python3
"""P32: stdin is binary-exact, its end arrives, and a program that does not read it hangs nothing."""
import random

from mayfly import Promise, main

BYTES = random.Random(32).randbytes(8 << 20)


class Stdin(Promise):
    def test_every_byte_arrives_and_comes_back(self):
        for who in self.everybody():
            done = who.run(["cat"], stdin=BYTES)
            self.assertEqual(done.returncode, 0)
            self.assertTrue(done.stdout == BYTES)  # no diff of eight mebibytes when it is not

    def test_the_end_arrives_while_output_still_flows(self):
        for who in self.everybody():
            done = who.run(["sh", "-c", "wc -c; echo and on"], stdin=b"12345")
            self.assertEqual(done.stdout.split(), [b"5", b"and", b"on"])

    def test_a_program_that_does_not_read_ends_all_the_same(self):
        for who in self.everybody():
            self.assertEqual(who.run(["true"], stdin=BYTES).returncode, 0)

    def test_no_stdin_is_an_end_at_once(self):
        for who in self.everybody():
            self.assertEqual(who.run(["wc", "-c"]).stdout.strip(), b"0")


main()
