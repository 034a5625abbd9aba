#!/usr/bin/env python3
"""P31: exit codes 0-255 and every signal are told apart. Here by the command line."""
import signal
import subprocess
import time

from mayfly import Promise, main

# Signals whose default is not to end the process.
HARMLESS = {signal.SIGCHLD, signal.SIGCONT, signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU, signal.SIGURG,
            signal.SIGWINCH}


class Exits(Promise):
    def test_every_exit_code_arrives(self):
        for code in range(256):
            self.assertEqual(self.root.run(["sh", "-c", f"exit {code}"]).returncode, code)

    def test_every_signal_arrives_as_a_signal(self):
        for number in [s for s in range(1, 32) if s not in HARMLESS] + [34, 64]:
            # Not a shell: bash ignores SIGQUIT whatever it is told.
            done = self.root.python("import os,signal,time\n"
                                    f"if {number} not in (9, 19): signal.signal({number}, signal.SIG_DFL)\n"
                                    f"os.kill(os.getpid(), {number}); time.sleep(10)")
            self.assertEqual(done.returncode, 128 + number)
            self.assertIn(b"ending=signalled", done.stderr)

    def test_a_program_that_exits_like_a_signal_is_told_apart(self):
        for who in self.everybody():
            own = who.result(["sh", "-c", "exit 137"])
            killed = who.result(["sh", "-c", "kill -9 $$"])
            self.assertEqual((own["ending"], own["exitCode"], own["signal"]), ("exited", 137, None))
            self.assertEqual((killed["ending"], killed["exitCode"], killed["signal"]), ("signalled", None, "SIGKILL"))

    def test_a_signal_that_timeout_sends_twice_is_one_request(self):
        script = 'trap "echo asked; exit 5" TERM; echo up; while :; do sleep 0.05; done'
        for who in self.everybody():
            with who.popen(["run", "--", "sh", "-c", script], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE) as run:
                self.assertEqual(run.stdout.readline(), b"up\n")
                for _ in range(2):
                    run.send_signal(signal.SIGTERM)
                    time.sleep(0.02)
                out, err = run.communicate(timeout=20)
            self.assertEqual((run.returncode, out), (5, b"asked\n"), err)

    def test_a_missing_and_a_closed_program_have_codes_of_their_own(self):
        for who in self.everybody():
            self.assertEqual(who.run(["/no/such/program"]).returncode, 127)
            self.assertEqual(who.run(["/etc/passwd"]).returncode, 126)


main()
