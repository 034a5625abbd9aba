#!/usr/bin/env python3
"""P30: every byte of output arrives in order before the exit status. Here by the command line, through a pipe."""
import hashlib

from mayfly import Promise, main

MANY = 100 << 20
# A counter in every eight bytes, so that a lost, doubled or swapped block changes the digest.
WRITE = ("import sys,array\n"
         f"for start in range(0, {MANY} // 8, 1 << 17):\n"
         "    sys.stdout.buffer.write(array.array('Q', range(start, start + (1 << 17))).tobytes())\n"
         "sys.exit(7)\n")


def expected():
    whole = hashlib.sha256()
    for start in range(0, MANY // 8, 1 << 17):
        whole.update(b"".join(n.to_bytes(8, "little") for n in range(start, start + (1 << 17))))
    return whole.hexdigest()


class EveryByte(Promise):
    def test_a_hundred_mebibytes_and_an_immediate_exit_arrive_whole(self):
        done = self.root.python(WRITE, "--time", "50s", "--cpu-time", "50s")
        self.assertEqual(len(done.stdout), MANY)
        self.assertEqual(hashlib.sha256(done.stdout).hexdigest(), expected())
        self.assertEqual(done.returncode, 7)

    def test_stderr_comes_apart_from_stdout(self):
        for who in self.everybody():
            done = who.run(["sh", "-c", "echo out; echo err >&2"])
            self.assertEqual((done.stdout, done.stderr), (b"out\n", b"err\n"))


main()
