#!/usr/bin/env python3
"""clang-tidy over our own sources, in parallel, several in one run, and with a memory.

  tidy.py SOURCE_FOLDER BUILD_FOLDER [--jobs N] [--seconds N]

Reads compile_commands.json. A source whose text, headers of ours and configuration are those of an earlier clean run is
not looked at again (BUILD_FOLDER/tidy holds one empty file per clean run). Findings fail. Sources of one target are looked
at together (tidy_together.py says why, and which are not); that is three to four times as quick.
There is a time budget that a slow machine may meet: the privileged parts come first, then the parsers of foreign bytes,
and what the budget leaves out is named, and the next run goes on from there. With MAYFLY_LONG there is no budget, and tests
are included.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tidy_together import Source, groups, look_at  # noqa: E402

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)
# In this order; the tests only with MAYFLY_LONG, since they run anyway.
FOLDERS = ("jail/builder/", "jail/supervisor/", "jail/witness/", "jail/wire/", "sshd/", "api/", "jail/", "tui/")
LONG_FOLDERS = FOLDERS + ("tests/",)


class Inputs:
    """Digests of a source together with every header of ours that it includes."""

    def __init__(self, root, salt):
        self.root, self.salt, self.texts = root, salt, {}

    def text(self, path):
        if path not in self.texts:
            try:
                with open(os.path.join(self.root, path), encoding="utf-8", errors="replace") as source:
                    self.texts[path] = source.read()
            except OSError:
                self.texts[path] = ""
        return self.texts[path]

    def digest(self, source, command):
        seen, waiting = set(), [source]
        while waiting:
            path = waiting.pop()
            if path not in seen:
                seen.add(path)
                waiting += INCLUDE.findall(self.text(path))
        whole = hashlib.sha256((self.salt + command).encode())
        for path in sorted(seen):
            whole.update(path.encode() + b"\0" + self.text(path).encode())
        return whole.hexdigest()


def sources(root, build):
    """Every source of ours once, the most important first."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as text:
        entries = json.load(text)
    folders = LONG_FOLDERS if os.environ.get("MAYFLY_LONG") else FOLDERS

    def rank(entry):
        path = os.path.relpath(entry["file"], root)
        return next((i for i, folder in enumerate(folders) if path.startswith(folder)), len(folders))

    seen = set()
    for entry in sorted(entries, key=rank):
        path = os.path.relpath(entry["file"], root)
        if path.startswith(folders) and path.endswith(".cpp") and path not in seen:  # some are compiled for a second target
            seen.add(path)
            yield Source(path, entry["directory"], entry["command"])


def arguments_of_ours():
    parser = argparse.ArgumentParser()
    parser.add_argument("source")
    parser.add_argument("build")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, default=600)
    args = parser.parse_args()
    args.until = time.monotonic() + (1e6 if os.environ.get("MAYFLY_LONG") else args.seconds)
    return args


class Memory:
    """Which sources are known to be clean as they are."""

    def __init__(self, args):
        with open(os.path.join(args.source, ".clang-tidy"), encoding="utf-8") as text:
            self.inputs = Inputs(args.source, text.read())
        self.folder = os.path.join(args.build, "tidy")
        os.makedirs(self.folder, exist_ok=True)

    def mark(self, source):
        return os.path.join(self.folder, self.inputs.digest(source.path, source.command))

    def knows(self, source):
        return os.path.exists(self.mark(source))

    def learn(self, source):
        open(self.mark(source), "w", encoding="utf-8").close()


def main():
    args = arguments_of_ours()
    memory = Memory(args)
    everything = list(sources(args.source, args.build))
    unknown = [source for source in everything if not memory.knows(source)]
    looked_at, failed, left_out = 0, 0, []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        work = [pool.submit(look_at, args.source, group, args.until) for group in groups(args.source, unknown)]
        for future in concurrent.futures.as_completed(work):
            for verdict in future.result():
                if verdict.output is None:
                    left_out += [source.path for source in verdict.sources]
                    continue
                looked_at += len(verdict.sources)
                if verdict.output:
                    failed += 1
                    print("==", *(source.path for source in verdict.sources), f"\n{verdict.output}", flush=True)
                else:
                    for source in verdict.sources:
                        memory.learn(source)
    if left_out:
        print("not looked at within the time:", *sorted(left_out))
    print(f"{looked_at} sources looked at, {len(everything) - len(unknown)} known to be clean, {len(left_out)} left out, "
          f"{failed} runs with findings")
    return 1 if failed or not (looked_at or len(everything) - len(unknown)) else 0


if __name__ == "__main__":
    sys.exit(main())
