"""clang-tidy on several sources at once.

Nine tenths of clang-tidy's time go into headers: it parses them for each source, and its checks visit every node of the
standard library and of nlohmann's JSON, for findings that nobody wants. So sources of one target, which have the same
command line, are looked at as one that includes them all, and the headers are visited once.

What that could hide or break, and what is done about it:
 - a using-declaration or an alias of a namespace that only the neighbour uses: whoever has one is looked at alone, unless it
   writes the alias before a :: itself;
 - names of anonymous namespaces meet: sources that have one in common are not looked at together. Where it does not
   compile all the same, each half is looked at, down to one source alone; a compiler's error is never a clean run;
 - findings in sources are findings in included files: the header filter is told so (tidy_test.py holds that they are seen).
"""
import os
import re
import shlex
import subprocess
import tempfile
import time
from dataclasses import dataclass

# The command line names a precompiled header that only g++ can read, and its warnings.
FOR_GCC_ONLY = re.compile(r"-Winvalid-pch|-Wno-invalid-pch|-include \S*cmake_pch\.hxx|-fstack-clash-protection")
TARGET = re.compile(r" -o (\S+\.dir)/")
USING = re.compile(r"^\s*using (?:[\w:]+::~?\w+\s*;|(?!namespace)[^=;]*,)", re.M)
ALIAS = re.compile(r"^\s*namespace (\w+)\s*=", re.M)
ANONYMOUS = re.compile(r"^namespace \{$(.*?)^\}  // namespace$", re.M | re.S)
# What is declared at the left margin (.clang-format does not indent namespaces): a type, an alias, a function or a constant.
DECLARED = re.compile(r"^(?=\S)(?:(?:class|struct|union|enum(?: class)?|using|#define) (\w+)|(?:[\w:<>,&*\[\] ]+?[ &*>])?(\w+)(?:\(| = |\{|\[|;))", re.M)
NO_NAMES = {"namespace", "static_assert", "template"}
HEADERS_OF_OURS = r"/(jail|sshd|api|tui|tests)/.*\.(h|cpp)$"  # .clang-tidy has the headers alone
MOST_TOGETHER = 12
DOES_NOT_COMPILE = "[clang-diagnostic-error]"


@dataclass(frozen=True)
class Source:
    path: str  # relative to the root
    directory: str
    command: str

    def flags(self, root):
        """What all sources of a target share."""
        words, kept = iter(shlex.split(FOR_GCC_ONLY.sub("", self.command))[1:]), []
        for word in words:
            if word in ("-o", "-MF", "-MT"):
                next(words)
            elif word not in ("-c", "-MD", os.path.join(root, self.path)):
                kept.append(word)
        return tuple(kept)


@dataclass
class Verdict:
    sources: list
    output: str  # "" clean, None when the time was over before this one's turn came


def is_alone(text):
    return bool(USING.search(text)) or any(not re.search(rf"(?<![\w:]){alias}::", text) for alias in ALIAS.findall(text))


def own_names(text):
    """What is declared for this source alone, and what its neighbours would otherwise take for theirs."""
    inside = "\n".join(ANONYMOUS.findall(text)) + "\n".join(re.findall(r"^(?:static .*|#define \w+.*)$", text, re.M))
    return {name for names in DECLARED.findall(inside) for name in names if name} - NO_NAMES


def groups(root, sources):
    """Lists of sources that are looked at together, in the order of the first of each."""
    found, open_ones = [], {}  # of each command line: (sources, names of theirs)
    for source in sources:
        with open(os.path.join(root, source.path), encoding="utf-8", errors="replace") as file:
            text = file.read()
        if is_alone(text):
            found.append([source])
            continue
        target, names = TARGET.search(source.command), own_names(text)
        waiting = open_ones.setdefault((source.directory, source.flags(root), target and target.group(1)), [])
        for group, taken in waiting:
            if len(group) < MOST_TOGETHER and not names & taken:
                group.append(source)
                taken |= names
                break
        else:
            waiting.append(([source], set(names)))
            found.append(waiting[-1][0])
    return found


def look_at(root, sources, until):
    """Verdicts that have each of the sources once."""
    if time.monotonic() > until:
        return [Verdict(sources, None)]
    output = findings(root, sources)
    if DOES_NOT_COMPILE in output and len(sources) > 1:
        middle = len(sources) // 2
        return [*look_at(root, sources[:middle], until), *look_at(root, sources[middle:], until)]
    return [Verdict(sources, output)]


def findings(root, sources):
    """What clang-tidy says; "" when there is nothing."""
    with tempfile.TemporaryDirectory(prefix="mayfly-tidy-") as folder:
        path = os.path.join(root, sources[0].path)
        if len(sources) > 1:
            path = os.path.join(folder, "together.cpp")
            with open(path, "w", encoding="utf-8") as together:
                # bugprone-suspicious-include minds sources that are included, and it is right.
                together.writelines(f'#include "{os.path.join(root, source.path)}"  // NOLINT\n' for source in sources)
        done = subprocess.run(["clang-tidy", "--quiet", f"--config-file={os.path.join(root, '.clang-tidy')}",
                               f"--header-filter={HEADERS_OF_OURS}", path, "--", *sources[0].flags(root)],
                              cwd=sources[0].directory, capture_output=True, text=True, check=False, timeout=280)
    return (done.stdout + done.stderr or f"clang-tidy ended with {done.returncode}") if done.returncode else ""
