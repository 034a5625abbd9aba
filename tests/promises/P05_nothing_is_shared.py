#!/usr/bin/env python3
"""P05: what one jail writes no other jail and no later jail can see."""
import subprocess

from mayfly import Promise, main

FOLDERS = ("/tmp", "/dev/shm", "/home/run", "/var/tmp")
WRITE = ("import os,sys\nwritten = []\n"
         f"for folder in {FOLDERS}:\n"
         "    try: open(folder + '/left-behind', 'w').write('secret'); written.append(folder)\n"
         "    except OSError: pass\n"
         "import socket; s = socket.socket(socket.AF_UNIX); s.bind('\\0left-behind'); s.listen()\n"
         "print(' '.join(written), flush=True); sys.stdin.read()\n")
LOOK = ("import os,socket\n"
        f"for folder in {FOLDERS}: print(os.path.exists(folder + '/left-behind'))\n"
        "print(socket.socket(socket.AF_UNIX).connect_ex('\\0left-behind'))\n")


class NothingShared(Promise):
    def test_neither_a_live_nor_a_later_jail_sees_it(self):
        for who in self.everybody():
            clean = "\n".join(["False"] * len(FOLDERS) + ["111"])  # ECONNREFUSED: no such abstract socket
            writer = who.popen(["run", "--", "python3", "-I", "-c", WRITE], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            written = writer.stdout.readline().decode().split()
            self.assertIn("/tmp", written)
            self.assertIn("/home/run", written)
            self.assertEqual(who.python(LOOK).stdout.decode().strip(), clean, "beside it")
            writer.communicate(timeout=60)
            self.assertEqual(who.python(LOOK).stdout.decode().strip(), clean, "after it")

    def test_within_one_jail_it_is_seen(self):
        # Control run: the look finds what is there.
        both = WRITE.replace("sys.stdin.read()\n", "") + LOOK
        lines = self.root.python(both).stdout.decode().split("\n")
        self.assertEqual(lines[1], "True")
        self.assertEqual(lines[len(FOLDERS) + 1], "0")


main()
