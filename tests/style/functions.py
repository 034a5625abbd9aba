"""Finds the functions of a C++ file by their braces: good enough for one style, checked by rules_test.py."""
import re

from tree import bare

KEYWORDS = re.compile(r"^(if|for|while|switch|else|do|try|catch|return|case|default)\b")
SCOPES = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b")


def _without_directives(code):
    lines, continued = [], False
    for line in code.split("\n"):
        directive = continued or line.lstrip().startswith("#")
        continued = directive and line.endswith("\\")
        lines.append("" if directive else line)
    return "\n".join(lines)


def _kind(head):
    """What a brace opens, told from the text between the last ; { or } and the brace."""
    head = head.strip()
    if ")" not in head and SCOPES.search(head):
        return "scope"
    if ")" not in head or KEYWORDS.match(head):
        return "other"
    before_arguments = head.split("(", 1)[0]
    if re.search(r"[^=!<>]=\s*$|[^=!<>]=[^=]", before_arguments.replace("operator==", "").replace("operator=", "")):
        return "other"
    if SCOPES.match(before_arguments.strip()) and not re.search(r"\)\s*(const|noexcept)?\s*$", head):
        return "scope"
    return "function"


def functions(text):
    """(first line, number of lines, head) of every function that is not inside another one."""
    code = _without_directives(bare(text))
    found, stack, head_start, line = [], [], 0, 1
    head_line = None
    for position, char in enumerate(code):
        if char == "\n":
            line += 1
        elif head_line is None and not char.isspace() and char not in ";{}":
            head_start, head_line = position, line
        if char == ";" and not any(kind == "parenthesis" for kind, _, _ in stack):
            head_line = None
        elif char == "(":
            stack.append(("parenthesis", line, ""))
        elif char == ")" and stack:
            stack.pop()
        elif char == "{":
            head = code[head_start:position] if head_line is not None else ""
            stack.append((_kind(head), head_line or line, " ".join(head.split())))
            head_line = None
        elif char == "}" and stack:
            kind, first, head = stack.pop()
            if kind == "function" and all(outer == "scope" for outer, _, _ in stack):
                found.append((first, line - first + 1, head[:80]))
            head_line = None
    return found
