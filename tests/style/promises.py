"""docs/promises.md: every promise is there, and names tests that exist and say so, or *pending*."""
import re

PAGE = "docs/promises.md"
NUMBERS = [*range(1, 13), *range(20, 24), *range(30, 35), *range(40, 44), *range(50, 55), *range(60, 63), *range(70, 73),
           *range(80, 88)]
PROMISE = re.compile(r"^- \*\*P(\d\d)\*\* ", re.M)
TEST = re.compile(r"`(tests/[^`]+)`")


def promises(tree):
    text = tree.text(PAGE) if tree.exists(PAGE) else ""
    starts = [(int(m.group(1)), m.start()) for m in PROMISE.finditer(text)]
    seen = [number for number, _ in starts]
    for number in NUMBERS:
        if seen.count(number) != 1:
            yield PAGE, 1, f"P{number:02} is there {seen.count(number)} times"
    ends = [start for _, start in starts[1:]] + [len(text)]
    for (number, start), end in zip(starts, ends):
        line = text.count("\n", 0, start) + 1
        for complaint in _complaints(tree, number, text[start:end]):
            yield PAGE, line, complaint


def _complaints(tree, number, entry):
    tests = TEST.findall(entry)
    if not tests and "*pending*" not in entry:
        yield f"P{number:02} names no test and is not *pending*"
    for test in tests:
        if not tree.exists(test):
            yield f"P{number:02} names {test}, which does not exist"
        elif f"P{number:02}" not in tree.text(test):
            yield f"P{number:02} names {test}, which does not mention it"
