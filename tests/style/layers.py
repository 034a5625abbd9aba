"""Who may include whom, and which libraries each part may use: the arrows of the design as two tables."""
import os
import re

from tree import line_of

BASE = ("jail/expected.h", "jail/spec/")
# A front end gets the wire through the client, which leaves these headers in its hands.
FRONT_END_WIRE = tuple("jail/wire/" + name for name in ("lease.h", "request_json.h", "result_json.h", "frame.h",
                                                     "startup.h"))
FRONT_END = BASE + ("jail/os/", "jail/client/") + FRONT_END_WIRE

MAY_INCLUDE = {
    "jail/expected.h": (),
    "jail/spec/": BASE,
    "jail/os/": BASE + ("jail/os/",),
    "jail/wire/": BASE + ("jail/os/", "jail/wire/"),
    "jail/client/": BASE + ("jail/os/", "jail/wire/", "jail/client/"),
    "jail/builder/": BASE + ("jail/os/", "jail/wire/", "jail/builder/"),
    "jail/witness/": BASE + ("jail/os/", "jail/wire/", "jail/witness/"),
    "jail/ledger/": BASE + ("jail/os/", "jail/wire/", "jail/ledger/"),
    # The supervisor compares what a jail proved with the one number that names the filter: a header of constants.
    "jail/supervisor/": BASE + ("jail/os/", "jail/wire/", "jail/ledger/", "jail/supervisor/",
                                "jail/builder/filter/build_id.h"),
    "jail/probe/": BASE + ("jail/os/", "jail/wire/", "jail/client/", "jail/probe/"),
    "jail/cli/": BASE + ("jail/os/", "jail/wire/", "jail/client/", "jail/ledger/", "jail/probe/", "jail/cli/"),
    "sshd/": FRONT_END + ("sshd/",),
    "api/": FRONT_END + ("jail/probe/", "api/"),
    "tui/": FRONT_END + ("jail/wire/monitor.h", "tui/"),
}

# A header of a library or of the system (a pattern) and the only folders that may include it.
ONLY_IN = (
    (r"libssh/", ("sshd/",)),
    (r"boost/", ("api/",)),
    (r"(ncursesw/)?(n?curses|panel|term)\.h|vterm\.h", ("tui/",)),
    (r"sqlite3\.h", ("api/",)),
    (r"seccomp\.h", ("jail/builder/filter/", "jail/os/")),
    (r"CLI/", ("jail/cli/",)),
)
# And the folders that may not include it.
NEVER_IN = (
    (r"nlohmann/", ("jail/builder/", "jail/witness/", "jail/spec/", "jail/os/")),
    (r"(thread|mutex|future|condition_variable|shared_mutex|iostream)$",
     ("jail/builder/", "jail/witness/", "jail/supervisor/", "jail/spec/")),
    (r"(unistd|fcntl|poll|sched|dirent|spawn|pwd|grp)\.h$|(sys|linux|netinet|arpa|asm)/", ("jail/spec/",)),
)

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)


def _layer(path):
    names = [name for name in MAY_INCLUDE if path.startswith(name)]
    return max(names, key=len) if names else None


def includes(tree):
    """Complaints about #include lines outside tests/."""
    for path in tree.code():
        if path.startswith("tests/"):
            continue
        layer = _layer(path)
        if layer is None:
            yield path, 1, "this folder has no row in the include table of tests/style/layers.py"
            continue
        text = tree.text(path)
        for match in INCLUDE.finditer(text):
            for complaint in _complaints(path, layer, match.group(1), match.group(2)):
                yield path, line_of(text, match.start()), complaint


def _complaints(path, layer, quote, name):
    if quote == '"':
        if not name.startswith(MAY_INCLUDE[layer]):
            yield f"{layer} may not include {name}"
        return
    for pattern, folders in ONLY_IN:
        if re.match(pattern, name) and not path.startswith(folders):
            yield f"<{name}> belongs to {' '.join(folders)}"
    for pattern, folders in NEVER_IN:
        if re.match(pattern, name) and path.startswith(folders):
            yield f"{layer} may not include <{name}>"


# What a program may never be linked with. Read from build.ninja, that is, with everything that comes through others.
PRIVILEGED = r"libssh|-lssh|boost|ncurses|vterm|sqlite|spdlog|libfmt|libmayfly_client"
FRONT_ENDS = r"libmayfly_(builder|supervisor|witness|inside|outside|ledger)"
MAY_NOT_LINK = {
    "mayfly-builder": PRIVILEGED,
    "mayfly-builder-faulty": PRIVILEGED,
    "mayfly-witness": PRIVILEGED,
    "mayfly-supervisor": PRIVILEGED,
    "mayfly-sshd": FRONT_ENDS + "|boost|ncurses",
    "mayfly-sshd-session": FRONT_ENDS + "|boost|ncurses",
    "mayfly-api": FRONT_ENDS + "|libssh|-lssh|ncurses",
    "mayfly-top": FRONT_ENDS + "|libssh|-lssh|boost",
}
# An object that nobody else may be made of, and the only outputs that may: it takes the secrecy out of SSH.
CLEAR_TEXT = "clear_text.cpp"
MAY_BE_CLEAR_TEXT = ("fuzz_session_replay", "mayfly_fuzz_session", "clear_text.cpp.o")
MUST_EXIST = ("mayfly-builder", "mayfly-witness", "mayfly-supervisor")


def links(build_ninja):
    """Complaints about the link graph; build_ninja is the text of that file."""
    libraries = {}
    for block in re.split(r"\n(?=build )", build_ninja):
        head = re.match(r"build (\S+?): CX{0,2}_EXECUTABLE_LINKER", block)
        if head:
            line = re.search(r"^  LINK_LIBRARIES = (.*)$", block, re.M)
            libraries[os.path.basename(head.group(1))] = (line.group(1) if line else "") + block.split("\n", 1)[0]
    for program in MUST_EXIST:
        if program not in libraries:
            yield "build.ninja", 1, f"{program} is not linked at all: the link graph cannot be judged"
    for program, pattern in MAY_NOT_LINK.items():
        for library in libraries.get(program, "").split():
            if re.search(pattern, library):
                yield "build.ninja", 1, f"{program} may not be linked with {library}"
    for output, inputs in re.findall(r"^build (\S+?): (.*)$", build_ninja, re.M):
        if CLEAR_TEXT in inputs and os.path.basename(output) not in MAY_BE_CLEAR_TEXT:
            yield "build.ninja", 1, f"{output} may not be made of {CLEAR_TEXT}, which is for the fuzzers alone"
