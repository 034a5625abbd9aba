"""docs/hostile-ssh.md: every kind is there once, and names tests that exist and mention it."""
import re

PAGE = "docs/hostile-ssh.md"
KINDS = [number for number in range(1, 41) if number not in (18, 20, 33)]
ROW = re.compile(r"^\| (B\d\d(?:, B\d\d)*) \|(.*)\|$", re.M)
TEST = re.compile(r"`([^`]+)`")
SHORT = {"inside": "ssh_hostile_inside.py"}


def hostile(tree):
    text = tree.text(PAGE) if tree.exists(PAGE) else ""
    rows = [(row.group(1).split(", "), row.group(2), text.count("\n", 0, row.start()) + 1) for row in ROW.finditer(text)]
    seen = [kind for kinds, _, _ in rows for kind in kinds]
    for number in KINDS:
        if seen.count(f"B{number:02}") != 1:
            yield PAGE, 1, f"B{number:02} is there {seen.count(f'B{number:02}')} times"
    for kinds, cells, line in rows:
        tests = [name for name in TEST.findall(cells.split("|")[-1]) if not name.isupper() and "MAYFLY" not in name]
        if not tests:
            yield PAGE, line, f"{kinds[0]} names no test"
        for test in map(path_of, tests):
            if not tree.exists(test):
                yield PAGE, line, f"{kinds[0]} names {test}, which does not exist"
            elif not any(kind in tree.text(test) for kind in kinds):
                yield PAGE, line, f"{kinds[0]} names {test}, which does not mention it"


def path_of(name):
    if name.startswith("tests/"):
        return name
    return "tests/sshd/" + (f"ssh_{name}.py" if name.startswith("raw_") else SHORT.get(name, name))
