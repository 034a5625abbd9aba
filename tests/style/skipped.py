#!/usr/bin/env python3
"""Prints which tests were skipped and why, from ctest's JUnit file.

Exits 1 when a test was skipped for a reason that this machine could do something about: etc/test installs every package
and runs as root, so the only good reasons begin with "this host" or "this kernel" (tests/catch/skip.h).
"""
import sys
import xml.etree.ElementTree as ElementTree

MARK = "mayfly-skip:"
GOOD_BEGINNINGS = ("this host", "this kernel")


def reasons(path):
    """(name, reason) of every skipped test."""
    found = []
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        if case.get("status") not in ("notrun", "disabled") and case.find("skipped") is None:
            continue
        output = case.findtext("system-out") or ""
        said = [line.split(MARK, 1)[1].strip() for line in output.splitlines() if MARK in line]
        found.append((case.get("name"), said[0] if said else "it gives no reason"))
    return found


def main():
    bad = 0
    for name, reason in reasons(sys.argv[1]):
        good = reason.startswith(GOOD_BEGINNINGS)
        bad += not good
        print(f"skipped: {name}: {reason}" + ("" if good else " (this machine could have run it)"))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
