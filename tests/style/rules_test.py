#!/usr/bin/env python3
"""Each style rule must find its bad sample, and must leave the good one alone: a check that cannot fail is a defect."""
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import layers  # noqa: E402
import hostile  # noqa: E402
import promises  # noqa: E402
import rules  # noqa: E402
from functions import functions  # noqa: E402
from tree import Tree, bare  # noqa: E402

CONTRACT = "// A thing.\n#pragma once\n"


def body(lines):
    return "  a();\n" * lines


class Sample(unittest.TestCase):
    def complaints(self, rule, **files):
        """What the rule says about a tree of these files; __ in a name stands for / and _dot_ for a dot."""
        with tempfile.TemporaryDirectory() as root:
            for name, text in files.items():
                path = os.path.join(root, name.replace("__", "/").replace("_dot_", "."))
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as out:
                    out.write(text)
            return [text for _, _, text in rule(Tree(root))]


class Includes(Sample):
    def one(self, path, line):
        return len(self.complaints(layers.includes, **{path: line + "\n"}))

    def test_a_front_end_may_not_include_the_engine(self):
        self.assertEqual(self.one("sshd__a_dot_cpp", '#include "jail/supervisor/queue.h"'), 1)
        self.assertEqual(self.one("api__a_dot_cpp", '#include "jail/builder/outside/clone.h"'), 1)
        self.assertEqual(self.one("tui__a_dot_cpp", '#include "jail/wire/plan.h"'), 1)
        self.assertEqual(self.one("sshd__a_dot_cpp", '#include "jail/client/supervisor_client.h"'), 0)
        self.assertEqual(self.one("sshd__a_dot_cpp", '#include "jail/wire/lease.h"'), 0)

    def test_values_make_no_system_calls(self):
        for name in ("unistd.h", "sys/stat.h", "fcntl.h", "linux/sched.h"):
            self.assertEqual(self.one("jail__spec__a_dot_h", f"#include <{name}>"), 1, name)
        self.assertEqual(self.one("jail__os__a_dot_h", "#include <unistd.h>"), 0)

    def test_an_earlier_stage_may_not_include_a_later_one(self):
        self.assertEqual(self.one("jail__spec__a_dot_h", '#include "jail/os/fd.h"'), 1)
        self.assertEqual(self.one("jail__os__a_dot_h", '#include "jail/wire/frame.h"'), 1)
        self.assertEqual(self.one("jail__builder__a_dot_h", '#include "jail/supervisor/x.h"'), 1)

    def test_libraries_stay_where_they_belong(self):
        self.assertEqual(self.one("jail__supervisor__a_dot_h", "#include <libssh/libssh.h>"), 1)
        self.assertEqual(self.one("jail__builder__a_dot_h", "#  include <nlohmann/json.hpp>"), 1)
        self.assertEqual(self.one("jail__supervisor__a_dot_h", "#include <thread>"), 1)
        self.assertEqual(self.one("api__a_dot_h", "#include <boost/asio.hpp>"), 0)

    def test_a_new_folder_needs_a_row(self):
        self.assertEqual(self.one("fleet__a_dot_cpp", ""), 1)


class Links(unittest.TestCase):
    GOOD = "".join(f"build bin/{p}: CXX_EXECUTABLE_LINKER__x a.o\n  LINK_LIBRARIES = libmayfly_os.a\n\n"
                   for p in layers.MUST_EXIST)

    def test_the_good_graph_is_accepted(self):
        self.assertEqual(list(layers.links(self.GOOD)), [])

    def test_a_privileged_program_may_not_link_a_protocol_library(self):
        for library in ("-lssh", "/usr/lib/libssh.so", "libboost_system.a", "-lncursesw"):
            self.assertEqual(len(list(layers.links(self.GOOD.replace("libmayfly_os.a", library, 1)))), 1, library)

    def test_a_front_end_may_not_link_the_engine(self):
        bad = "build bin/mayfly-api: CXX_EXECUTABLE_LINKER__x a.o\n  LINK_LIBRARIES = jail/libmayfly_supervisor.a\n"
        self.assertEqual(len(list(layers.links(self.GOOD + bad))), 1)

    def test_a_graph_without_the_privileged_programs_is_no_graph(self):
        self.assertEqual(len(list(layers.links(""))), len(layers.MUST_EXIST))

    def test_finds_the_clear_text_of_the_fuzzers_in_another_program(self):
        objects = "build bin/{}: CXX_EXECUTABLE_LINKER__x tests/fuzz/CMakeFiles/x.dir/clear_text.cpp.o | a.a\n"
        self.assertEqual(list(layers.links(self.GOOD + objects.format("tests/fuzz_session_replay"))), [])
        self.assertEqual(len(list(layers.links(self.GOOD + objects.format("mayfly-sshd-session")))), 1)


class PrivilegedCalls(Sample):
    def one(self, path, line):
        return len(self.complaints(rules.privileged_calls, **{path: f"void f() {{ {line} }}\n"}))

    def test_every_privileged_call_is_found_outside_the_builder(self):
        for call in rules.PRIVILEGED_CALLS:
            self.assertEqual(self.one("jail__supervisor__a_dot_cpp", call + "(x);"), 1, call)
            self.assertEqual(self.one("sshd__a_dot_cpp", f"::syscall(SYS_{call}, x);"), 1, call)
            self.assertEqual(self.one("jail__builder__a_dot_cpp", call + "(x);"), 0, call)

    def test_words_and_other_names_are_left_alone(self):
        self.assertEqual(self.one("jail__os__a_dot_cpp", 'say("mount(x)"); // mount(x)'), 0)
        self.assertEqual(self.one("jail__os__a_dot_cpp", "tree.clone(); remount(x); my::mount(x);"), 0)

    def test_a_plain_child_may_use_clone3_without_namespaces(self):
        self.assertEqual(self.one("jail__os__child_dot_cpp", "syscall(SYS_clone3, x);"), 0)
        self.assertEqual(self.one("jail__os__child_dot_cpp", "flags = CLONE_NEWNS;"), 1)


class Sizes(Sample):
    def test_long_files_and_functions_are_found(self):
        self.assertEqual(len(self.complaints(rules.sizes, jail__a_dot_h="\n" * 400)), 1)
        self.assertEqual(len(self.complaints(rules.sizes, jail__a_dot_h="\n" * 399)), 0)
        self.assertEqual(len(self.complaints(rules.sizes, jail__a_dot_cpp=f"void f() {{\n{body(58)}}}\n")), 1)
        self.assertEqual(len(self.complaints(rules.sizes, jail__a_dot_cpp=f"void f() {{\n{body(57)}}}\n")), 0)

    def lengths(self, text):
        return [lines for _, lines, _ in functions(text)]

    def test_functions_are_found_in_every_dress(self):
        for head in ("int f(int a) const noexcept", "Expected<void> A::f(std::map<int, int> a)", "A::A(int a) : a_(a)",
                     "template <typename T> auto f(T a) -> int", 'TEST_CASE("x { y", "[z]")', "bool operator==(A a)",
                     "static constexpr std::array<int, 2> f(struct stat s)", "A f(\n    int a,\n    int b)"):
            text = f"namespace n {{\nstruct S {{\n{head} {{\n{body(5)}}}\n}};\n}}\n"
            self.assertEqual(self.lengths(text), [7 + head.count("\n")], head)

    def test_tables_scopes_and_lambdas_are_not_functions_of_their_own(self):
        self.assertEqual(self.lengths(f"namespace a {{\nclass B {{\n{'  int b;' * 3}\n}};\n}}\n"), [])
        self.assertEqual(self.lengths("constexpr std::array k = {\n  Row{f(1)},\n  Row{f(2)},\n};\n"), [])
        self.assertEqual(self.lengths(f"void f() {{\n  auto g = [](int a) {{\n{body(3)}  }};\n}}\n"), [7])

    def test_braces_in_text_do_not_count(self):
        self.assertEqual(self.lengths("void f() {\n  say(\"{{{\"); // }}}\n  char c = '{';\n  R\"x(}\n)x\";\n}\nint g() {\n}\n"),
                         [6, 2])
        self.assertEqual(bare("1'000 /* a\nb */ c").count("\n"), 1)


class Words(Sample):
    def test_left_overs_and_paths_of_one_machine_are_found(self):
        for word in ("TO" + "DO", "FIX" + "ME", "/ro" + "ot/x", "/wo" + "rk/y", "/ho" + "me/ana"):
            self.assertEqual(len(self.complaints(rules.words, docs__a_dot_md=f"see {word} here\n")), 1, word)
        self.assertEqual(self.complaints(rules.words, docs__a_dot_md="/ho" + "me/run and HOME=/root are fine\n"), [])


class Headers(Sample):
    def test_a_header_without_contract_or_guard_is_found(self):
        self.assertEqual(len(self.complaints(rules.headers, jail__os__a_dot_h="#pragma once\n// late\n")), 1)
        self.assertEqual(len(self.complaints(rules.headers, jail__os__a_dot_h="// A thing.\n")), 1)
        self.assertEqual(len(self.complaints(rules.headers, jail__os__a_dot_h="")), 2)
        self.assertEqual(self.complaints(rules.headers, jail__os__a_dot_h=CONTRACT), [])

    def test_vague_folders_are_found(self):
        self.assertEqual(len(self.complaints(rules.folders, jail__util__a_dot_h=CONTRACT)), 1)


class Promises(Sample):
    PAGE = "".join(f"- **P{n:02}** It holds. *pending*\n" for n in promises.NUMBERS)

    def check(self, page, **files):
        return self.complaints(promises.promises, docs__promises_dot_md=page, **files)

    def test_the_full_page_is_accepted(self):
        self.assertEqual(self.check(self.PAGE), [])

    def test_a_dropped_or_doubled_promise_is_found(self):
        self.assertEqual(len(self.check(self.PAGE.replace("**P05**", "P05"))), 1)
        self.assertEqual(len(self.check(self.PAGE + "- **P05** Again. *pending*\n")), 1)
        self.assertEqual(len(self.complaints(promises.promises, docs__a_dot_md="")), len(promises.NUMBERS))

    def test_a_promise_without_a_test_is_found(self):
        page = self.PAGE.replace("- **P05** It holds. *pending*", "- **P05** It holds. `tests/a_test.cpp`")
        self.assertEqual(len(self.check(page)), 1)
        self.assertEqual(len(self.check(page, tests__a_test_dot_cpp="[P06]")), 1)
        self.assertEqual(self.check(page, tests__a_test_dot_cpp="[P05]"), [])
        self.assertEqual(len(self.check(self.PAGE.replace("- **P05** It holds. *pending*", "- **P05** It holds."))), 1)


class HostileKinds(Sample):
    PAGE = "".join(f"| B{n:02} | it does | it meets | `raw_all` |\n" for n in hostile.KINDS)
    TEST = " ".join(f"B{n:02}" for n in hostile.KINDS)

    def check(self, page, test=TEST):
        return self.complaints(hostile.hostile, **{"docs__hostile-ssh_dot_md": page, "tests__sshd__ssh_raw_all_dot_py": test})

    def test_the_full_page_is_accepted(self):
        self.assertEqual(self.check(self.PAGE), [])

    def test_a_dropped_or_doubled_kind_is_found(self):
        self.assertEqual(len(self.check(self.PAGE.replace("| B05 |", "| 5 |"))), 1)
        self.assertEqual(len(self.check(self.PAGE.replace("| B05 |", "| B05, B06 |"))), 1)

    def test_a_kind_whose_test_is_not_there_or_does_not_say_so_is_found(self):
        self.assertEqual(len(self.check(self.PAGE, self.TEST.replace("B05", ""))), 1)
        self.assertEqual(len(self.check(self.PAGE.replace("| B05 | it does | it meets | `raw_all` |", "| B05 | - | - | `raw_none` |"))), 1)
        self.assertEqual(len(self.check(self.PAGE.replace("| B05 | it does | it meets | `raw_all` |", "| B05 | - | - | nobody |"))), 1)

    def test_each_kind_of_a_row_wants_a_test_and_each_test_a_kind(self):
        page = self.PAGE.replace("| B06 | it does | it meets | `raw_all` |\n", "").replace("| B05 |", "| B05, B06 |")
        self.assertEqual(self.check(page), [])
        for kind in ("B05", "B06"):
            self.assertEqual(len(self.check(page, self.TEST.replace(kind, ""))), 1, kind)
        page = page.replace("| B05, B06 | it does | it meets | `raw_all` |", "| B05, B06 | - | - | `raw_all`, `raw_one` |")
        more = {"tests__sshd__ssh_raw_all_dot_py": self.TEST, "docs__hostile-ssh_dot_md": page}
        self.assertEqual(self.complaints(hostile.hostile, **more, tests__sshd__ssh_raw_one_dot_py="B05"), [])
        self.assertEqual(len(self.complaints(hostile.hostile, **more, tests__sshd__ssh_raw_one_dot_py="B07")), 1)

    def test_what_only_the_head_of_a_file_says_holds_nothing(self):
        head = '#!/usr/bin/env python3\n"""All of them: B05\nand so on."""\n'
        self.assertEqual(len(self.check(self.PAGE, head + self.TEST.replace("B05", ""))), 1)
        self.assertEqual(self.check(self.PAGE, head + self.TEST), [])


if __name__ == "__main__":
    unittest.main()
