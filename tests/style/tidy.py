#!/usr/bin/env python3
"""clang-tidy over our own sources, in parallel and with a memory.

  tidy.py SOURCE_FOLDER BUILD_FOLDER [--jobs N] [--seconds N]

Reads compile_commands.json. A source whose text, headers of ours and configuration are those of an earlier clean run is
not looked at again (BUILD_FOLDER/tidy holds one empty file per clean run). Findings fail.
Parsing is slow (seven minutes for all, on two cores), so there is a time budget that a slow machine may meet: the privileged
parts come first, then the parsers of foreign bytes, and what the budget leaves out is named, and the next run goes on from
there. With MAYFLY_LONG there is no budget, and tests are included.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import time

# The command line names a precompiled header that only g++ can read, and its warnings.
FOR_GCC_ONLY = re.compile(r"-Winvalid-pch|-Wno-invalid-pch|-include \S*cmake_pch\.hxx|-fstack-clash-protection")
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


def commands(root, build):
    """(source relative to root, command) of every source of ours, without what only g++ understands."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as text:
        entries = json.load(text)
    folders = LONG_FOLDERS if os.environ.get("MAYFLY_LONG") else FOLDERS

    def rank(entry):
        path = os.path.relpath(entry["file"], root)
        return next((i for i, folder in enumerate(folders) if path.startswith(folder)), len(folders))

    for entry in sorted(entries, key=rank):
        source = os.path.relpath(entry["file"], root)
        if source.startswith(folders) and source.endswith(".cpp"):
            yield source, entry["directory"], FOR_GCC_ONLY.sub("", entry["command"])


def tidy(root, source, directory, command, until):
    """(status, output); status None when the budget was over before this one's turn came."""
    if time.monotonic() > until:
        return None, ""
    arguments = shlex.split(command)[1:]
    done = subprocess.run(["clang-tidy", "--quiet", os.path.join(root, source), "--", *arguments], cwd=directory,
                          capture_output=True, text=True, check=False, timeout=280)
    return done.returncode, done.stdout + (done.stderr if done.returncode else "")


def arguments_of_ours():
    parser = argparse.ArgumentParser()
    parser.add_argument("source")
    parser.add_argument("build")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, default=600)
    args = parser.parse_args()
    args.until = time.monotonic() + (1e6 if os.environ.get("MAYFLY_LONG") else args.seconds)
    return args


def start(args, pool):
    """(what runs: {future: (source, mark of a clean run)}, number known to be clean)"""
    with open(os.path.join(args.source, ".clang-tidy"), encoding="utf-8") as text:
        inputs = Inputs(args.source, text.read())
    memory = os.path.join(args.build, "tidy")
    os.makedirs(memory, exist_ok=True)
    work, known, seen = {}, 0, set()
    for source, directory, command in commands(args.source, args.build):
        if source in seen:  # compiled for a second target
            continue
        seen.add(source)
        mark = os.path.join(memory, inputs.digest(source, command))
        if os.path.exists(mark):
            known += 1
        else:
            work[pool.submit(tidy, args.source, source, directory, command, args.until)] = (source, mark)
    return work, known


def main():
    args = arguments_of_ours()
    failed, left_out = 0, []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        work, known = start(args, pool)
        for future in concurrent.futures.as_completed(work):
            source, mark = work[future]
            status, output = future.result()
            if status == 0:
                open(mark, "w", encoding="utf-8").close()
            elif status is None:
                left_out.append(source)
            else:
                failed += 1
                print(f"== {source}\n{output}", flush=True)
    if left_out:
        print("not looked at within the time:", *sorted(left_out))
    looked_at = len(work) - len(left_out)
    print(f"{looked_at} sources looked at, {known} known to be clean, {len(left_out)} left out, {failed} with findings")
    return 1 if failed or not (looked_at or known) else 0


if __name__ == "__main__":
    sys.exit(main())
