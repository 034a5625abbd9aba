"""The source tree as the style rules see it."""
import os
import re

CODE = (".h", ".cpp", ".c")
SCRIPTS = (".py", ".sh", ".cmake")
NOT_OURS = {"build", ".git", "node_modules", "__pycache__", "corpus", "golden"}


class Tree:
    def __init__(self, root):
        self.root = root
        self.files = sorted(self._walk())
        self._texts = {}

    def _walk(self):
        for folder, names, files in os.walk(self.root):
            names[:] = [n for n in names if n not in NOT_OURS]
            for name in files:
                yield os.path.relpath(os.path.join(folder, name), self.root)

    def text(self, path):
        """The file's text; empty for a file that is not text."""
        if path not in self._texts:
            with open(os.path.join(self.root, path), "rb") as source:
                raw = source.read()
            self._texts[path] = "" if b"\0" in raw else raw.decode("utf-8", "replace")
        return self._texts[path]

    def code(self):
        return [f for f in self.files if f.endswith(CODE)]

    def exists(self, path):
        return os.path.exists(os.path.join(self.root, path))


TOKENS = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"([^\s()\\]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-zA-Z])'(?:\\.|[^'\\\n])+'""", re.S)


def bare(text):
    """C++ without the contents of comments and literals; every line stays where it was."""
    def blank(match):
        lines = "\n" * match.group(0).count("\n")
        return lines if match.group(0).startswith("/") else '""' + lines
    return TOKENS.sub(blank, text)


def line_of(text, position):
    return text.count("\n", 0, position) + 1
