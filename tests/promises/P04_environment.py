#!/usr/bin/env python3
"""P04: the environment holds exactly HOME, PATH and LANG, and TERM on a terminal."""
import os
import pty

from mayfly import Promise, main


class Environment(Promise):
    def names(self, text):
        return sorted(line.split("=", 1)[0] for line in text.replace("\r", "").split("\n") if "=" in line)

    def test_a_program_without_a_terminal_gets_three_variables(self):
        for who in self.everybody():
            done = who.run(["/usr/bin/env"])
            self.assertEqual(self.names(done.stdout.decode()), ["HOME", "LANG", "PATH"])
            self.assertNotIn(b"must-not-arrive", done.stdout)

    def test_on_a_terminal_it_gets_term_too(self):
        outer, inner = pty.openpty()
        with self.root.popen(["run", "--tty", "--", "/usr/bin/env"], stdin=inner, stdout=inner, stderr=inner) as process:
            os.close(inner)
            text = b""
            try:
                while chunk := os.read(outer, 4096):
                    text += chunk
            except OSError:
                pass  # EIO: the other side is closed
            self.assertEqual(process.wait(60), 0)
        os.close(outer)
        self.assertEqual(self.names(text.decode()), ["HOME", "LANG", "PATH", "TERM"])


main()
