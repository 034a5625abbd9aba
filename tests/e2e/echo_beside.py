"""A key and its echo on a bare terminal, again and again while something else is measured: how busy this machine is meanwhile.

  with EchoBeside() as beside:
      ...
  beside.times_ms  # from each byte to `cat` until it came back

The terminal does not echo by itself, so that the byte passes a process, as it does at a shell.
"""
import os
import pty
import select
import threading
import time
import tty

EVERY = 0.05  # seconds
LONGEST = 10


class EchoBeside:
    def __init__(self):
        self.times_ms = []
        self.over = threading.Event()
        self.failure = None

    def __enter__(self):
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            try:
                tty.setraw(0)
                os.write(1, b"!")
                os.execv("/bin/cat", ["cat"])
            finally:
                os._exit(127)
        assert self.reply() == b"!"
        self.typist = threading.Thread(target=self.type)
        self.typist.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.typist.join()
        os.close(self.master)  # hangs up: cat ends
        os.waitpid(self.pid, 0)
        assert self.failure is None, self.failure

    def type(self):
        while not self.over.wait(EVERY):
            begin = time.monotonic()
            os.write(self.master, b"x")
            if self.reply() != b"x":
                self.failure = f"no echo on a bare terminal within {LONGEST} s"
                return
            self.times_ms.append((time.monotonic() - begin) * 1000)

    def reply(self):
        return os.read(self.master, 1) if select.select([self.master], [], [], LONGEST)[0] else b""
