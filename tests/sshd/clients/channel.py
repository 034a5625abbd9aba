"""One program on the other side, as a client sees it."""
import threading
import time

SECONDS = 30  # longer than anything here takes on a busy machine


class Refused(Exception):
    """The service did not let this in, or does not serve it."""


class Channel:
    """What arrives is collected in the background; who waits for it has a deadline.

    A client's own kind says how to send, end_input, resize, signal and close, as far as the client can.
    """

    def __init__(self):
        self.out, self.err = bytearray(), bytearray()
        self.status = self.signalled = None
        self._over = False
        self._seen = 0
        self._changed = threading.Condition()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def note(self, stream, data):
        with self._changed:
            stream += data
            self._changed.notify_all()

    def note_end(self):
        with self._changed:
            self._over = True
            self._changed.notify_all()

    @staticmethod
    def in_background(work):
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        return thread

    def collect(self, read, stream):
        """A thread that calls read() until it gives nothing more, or fails."""
        def work():
            try:
                while data := read():
                    self.note(stream, data)
            except OSError:  # a terminal whose other end is closed
                pass
        return self.in_background(work)

    def closing_with(self, connection):
        """This channel is the only use of `connection`: closing it closes both."""
        close = self.close

        def both():
            close()
            connection.__exit__()
        self.close = both
        return self

    def _await(self, what, missing):
        end = time.monotonic() + SECONDS
        with self._changed:
            while not what():
                left = end - time.monotonic()
                assert left > 0 and not self._over, f"{missing}: out {bytes(self.out[-2000:])!r} err {bytes(self.err[-2000:])!r}"
                self._changed.wait(left)

    def expect(self, text):
        """Waits until `text` has come on stdout, behind what was expected before."""
        self._await(lambda: self.out.find(text, self._seen) >= 0, f"never saw {text!r}")
        self._seen = self.out.find(text, self._seen) + len(text)
        return self

    def wait(self):
        """Until the program has ended and all of its output is here."""
        self._await(lambda: self._over, "it has not ended")
        return self

    def run(self, data=b""):
        """`data` is its whole input."""
        with self:
            if data:
                self.send(data)
            self.end_input()
            self.wait()
        return self
