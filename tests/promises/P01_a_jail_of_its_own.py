#!/usr/bin/env python3
"""P01: two live jails share no namespace and, when root runs them, no uid; and neither shares one with the host."""
import os
import subprocess

from mayfly import Promise, main

SPACES = ("user", "mnt", "pid", "net", "ipc", "uts", "cgroup")
LOOK = ("import os,sys\n"
        f"for s in {SPACES}: print(os.readlink('/proc/self/ns/' + s))\n"
        "print(open('/proc/self/uid_map').read().split())\n"
        "print(os.stat('/').st_dev)\n"
        "sys.stdout.flush(); sys.stdin.read()\n")


class OwnJail(Promise):
    def two_at_once(self, who):
        words = ["run", "--", "python3", "-I", "-c", LOOK]
        jails = [who.popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(2)]
        # Each prints and then waits for the end of its stdin, so both are alive while we read.
        seen = [[jail.stdout.readline().decode().strip() for _ in range(len(SPACES) + 2)] for jail in jails]
        for jail in jails:
            jail.communicate(timeout=60)
            self.assertEqual(jail.returncode, 0)
        return seen

    def test_two_live_jails_share_nothing(self):
        for who in self.everybody():
            first, second = self.two_at_once(who)
            host = [os.readlink("/proc/self/ns/" + space) for space in SPACES]
            for name, one, other, ours in zip(SPACES, first, second, host):
                self.assertTrue(one.startswith(name + ":["), one)
                self.assertEqual(len({one, other, ours}), 3, name)
            self.assertNotEqual(first[-1], second[-1], "one tmpfs for two jails")
            if who is self.root:
                self.assertNotEqual(first[-2], second[-2], "one outside uid for two jails")


main()
