"""docs/hostile-ssh.md: every kind is there once, names tests that exist and mention it, and each of its tests mentions one."""
import re

PAGE = "docs/hostile-ssh.md"
KINDS = [number for number in range(1, 41) if number not in (18, 20, 33)]
ROW = re.compile(r"^\| (B\d\d(?:, B\d\d)*) \|(.*)\|$", re.M)
TEST = re.compile(r"`([^`]+)`")
DOCSTRING = re.compile(r'\A(?:#!.*\n)?"""(?:.|\n)*?"""')  # says what a file is about; a test or its comment holds a kind
SHORT = {"inside": "ssh_hostile_inside.py"}


def hostile(tree):
    text = tree.text(PAGE) if tree.exists(PAGE) else ""
    rows = [(row.group(1).split(", "), row.group(2), text.count("\n", 0, row.start()) + 1) for row in ROW.finditer(text)]
    seen = [kind for kinds, _, _ in rows for kind in kinds]
    for number in KINDS:
        if seen.count(f"B{number:02}") != 1:
            yield PAGE, 1, f"B{number:02} is there {seen.count(f'B{number:02}')} times"
    for kinds, cells, line in rows:
        for text in complaints_of(tree, kinds, tests_of(cells)):
            yield PAGE, line, text


def complaints_of(tree, kinds, tests):
    """A row of two kinds may name a test for each; so each kind wants a test, and each test a kind."""
    if not tests:
        yield f"{kinds[0]} names no test"
    mentioned = set()
    for test in tests:
        if not tree.exists(test):
            yield f"{kinds[0]} names {test}, which does not exist"
            continue
        here = {kind for kind in kinds if kind in DOCSTRING.sub("", tree.text(test))}
        mentioned |= here
        if not here:
            yield f"{kinds[0]} names {test}, which does not mention it"
    for kind in kinds:
        if mentioned and kind not in mentioned:
            yield f"{kind} is mentioned by none of {', '.join(tests)}"


def tests_of(cells):
    return [path_of(name) for name in TEST.findall(cells.split("|")[-1]) if not name.isupper() and "MAYFLY" not in name]


def path_of(name):
    if name.startswith("tests/"):
        return name
    return "tests/sshd/" + (f"ssh_{name}.py" if name.startswith("raw_") else SHORT.get(name, name))
