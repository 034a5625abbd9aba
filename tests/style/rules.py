#!/usr/bin/env python3
"""The rules of the house that a program can hold. Standard library only.

  rules.py SOURCE_FOLDER BUILD_NINJA      prints one line per complaint; exit status 1 when there is any

rules_test.py shows each rule a bad sample that it must find.
"""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from functions import functions  # noqa: E402
from hostile import hostile  # noqa: E402
from layers import includes, links  # noqa: E402
from promises import promises  # noqa: E402
from tree import CODE, SCRIPTS, Tree, bare, line_of  # noqa: E402

MOST_LINES = 399
MOST_FUNCTION_LINES = 59

PRIVILEGED_CALLS = ("mount", "umount", "umount2", "clone", "clone3", "unshare", "setns", "pivot_root", "fsopen", "fsmount",
                    "fsconfig", "open_tree", "move_mount", "mount_setattr", "chroot")
CALL = re.compile(r"(?<![\w.>:])(?:::)?(" + "|".join(PRIVILEGED_CALLS) + r")\s*\(")
RAW_CALL = re.compile(r"(?<!\w)syscall\s*\(\s*(?:SYS_|__NR_)(" + "|".join(PRIVILEGED_CALLS) + r")\b")
PRIVILEGED_FOLDERS = ("jail/builder/", "jail/probe/attack_kernel.cpp", "tests/")  # the probe tries them, to be refused
# Starting an ordinary child with a pidfd takes clone3; nothing else there has a namespace flag.
ALLOWED_CALLS = {("jail/os/child.cpp", "clone3")}
NAMESPACE_FLAG = re.compile(r"\bCLONE_NEW[A-Z]+\b")

# In two halves, so that this file does not complain about itself.
LEFT_OVER = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK", "for n" + "ow")) + r")\b")
ONE_MACHINE = re.compile(r"(?<![\w.])(/wo" + r"rk/|/worksp" + r"ace/|/Us" + r"ers/|/ro" + r"ot/\w|/ho" + r"me/(?!run\b|user\b)\w|/t"
                         + r"mp/b-)")
VAGUE_FOLDERS = ("util", "utils", "common", "misc", "helpers")


def privileged_calls(tree):
    for path in tree.code():
        if path.startswith(PRIVILEGED_FOLDERS):
            continue
        code = bare(tree.text(path))
        for pattern in (CALL, RAW_CALL):
            for match in pattern.finditer(code):
                if (path, match.group(1)) not in ALLOWED_CALLS:
                    yield path, line_of(code, match.start()), f"{match.group(1)} may be called under jail/builder only"
        if path == "jail/os/child.cpp":
            for match in NAMESPACE_FLAG.finditer(code):
                yield path, line_of(code, match.start()), "a namespace flag outside jail/builder"


def sizes(tree):
    for path in tree.files:
        if path.endswith(CODE + SCRIPTS):
            lines = tree.text(path).count("\n")
            if lines > MOST_LINES:
                yield path, lines, f"{lines} lines; at most {MOST_LINES}: look for the missing noun"
    for path in tree.code():
        for first, lines, head in functions(tree.text(path)):
            if lines > MOST_FUNCTION_LINES:
                yield path, first, f"a function of {lines} lines; at most {MOST_FUNCTION_LINES}: {head}"


def words(tree):
    for path in tree.files:
        text = tree.text(path)
        for match in LEFT_OVER.finditer(text):
            yield path, line_of(text, match.start()), f"left over: {match.group(1)}"
        for match in ONE_MACHINE.finditer(text):
            yield path, line_of(text, match.start()), f"a path of one machine: {match.group(1)}"


def headers(tree):
    for path in tree.code():
        if path.endswith(".h") and not path.startswith("tests/"):
            lines = [line for line in tree.text(path).split("\n") if line.strip()]
            if not lines or not lines[0].startswith("//"):
                yield path, 1, "a header opens with its contract"
            if "#pragma once" not in lines:
                yield path, 1, "no #pragma once"


def folders(tree):
    for path in tree.files:
        for name in os.path.dirname(path).split("/"):
            if name in VAGUE_FOLDERS:
                yield path, 1, f"there is no {name} folder: a thing is a value, a host object or part of the contract"


RULES = (includes, privileged_calls, sizes, words, headers, folders, promises, hostile)


def main():
    source, build_ninja = sys.argv[1:3]
    tree = Tree(source)
    complaints = [c for rule in RULES for c in rule(tree)]
    with open(build_ninja, encoding="utf-8") as text:
        complaints += list(links(text.read()))
    for path, line, text in complaints:
        print(f"{path}:{line}: {text}")
    print(f"{len(tree.code())} C++ files, {len(complaints)} complaints")
    return 1 if complaints or not tree.code() else 0


if __name__ == "__main__":
    sys.exit(main())
