#!/usr/bin/env python3
"""tidy.py finds in sources that are looked at together what it finds in each alone, and what does not compile is not clean."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from tidy_together import MOST_TOGETHER, Source, groups  # noqa: E402

FOUND = re.compile(r"(\w+\.(?:cpp|h)):\d+:\d+: \w+: .*\[([\w-]+)")
HEADER = "#pragma once\n#include <string>\n#include <utility>\n#include <vector>\nstruct Shared { Shared(int); };\n"
# One finding for each line that names a check; all groups of .clang-tidy are there.
BAD = r"""#include "jail/wire/shared.h"
#include <cstdlib>
namespace {
struct Base { virtual ~Base(); virtual void f(); };
struct Derived : Base { virtual void f(); };                            // modernize-use-override
struct Number { Number(int); };                                         // google-explicit-constructor
std::string moved(std::string a) { std::string b(std::move(a)); return a + b; }  // bugprone-use-after-move
int cloned(int a) { if (a > 1) { return 2; } else { return 2; } }       // bugprone-branch-clone
unsigned long size_of() { return sizeof(42); }                          // bugprone-sizeof-expression
int number(const char* text) { return atoi(text); }                     // cert-err34-c
void loop() { for (float x = 0; x < 1; x += 0.1F) {} }                  // cert-flp30-c
bool redundant(int a) { return a == a + 0 && a == a; }                  // misc-redundant-expression
int* nothing() { return 0; }                                            // modernize-use-nullptr
void copies(const std::vector<std::string>& all) { for (const auto one : all) (void)one.size(); }  // performance-for-range-copy
const std::string constant; std::string last() { return std::move(constant); }  // performance-move-const-arg
unsigned long copied(const std::string& a) { const std::string b = a; return b.size(); }  // performance-unnecessary-copy-initialization
bool empty(const std::string& a) { return a.size() == 0; }              // readability-container-size-empty
void control() { loop(); return; }                                      // readability-redundant-control-flow
}  // namespace
"""
GOOD = '#include "jail/wire/shared.h"\nnamespace mayfly { int good_NUMBER() { return NUMBER; } }\n'
CLASH = '#include "jail/wire/shared.h"\nnamespace { constexpr int kSame = NUMBER; }\nint clash_NUMBER() { return kSame; }\n'
USING = '#include "jail/wire/shared.h"\nusing std::vector;\n'


class Together(unittest.TestCase):
    def setUp(self):
        self.root = os.path.realpath(tempfile.mkdtemp(prefix="mayfly-tidy-test-"))
        self.addCleanup(shutil.rmtree, self.root)
        os.makedirs(os.path.join(self.root, "jail/wire"))
        shutil.copy(os.path.join(HERE, "../../.clang-tidy"), self.root)
        self.write("shared.h", HEADER)

    def write(self, name, text):
        with open(os.path.join(self.root, "jail/wire", name), "w", encoding="utf-8") as file:
            file.write(text)

    def tidy(self, **sources):
        """(status, {file: checks that found something}, last line) for a target of these sources."""
        entries = []
        for name, text in sources.items():
            path = os.path.join(self.root, "jail/wire", name + ".cpp")
            self.write(name + ".cpp", text)
            entries.append({"file": path, "directory": self.root,
                            "command": f"/usr/bin/c++ -std=c++20 -I{self.root} -o w/CMakeFiles/w.dir/{name}.cpp.o -c {path}"})
        with open(os.path.join(self.root, "compile_commands.json"), "w", encoding="utf-8") as file:
            json.dump(entries, file)
        done = subprocess.run([sys.executable, "-B", os.path.join(HERE, "tidy.py"), self.root, self.root],
                              stdout=subprocess.PIPE, text=True, check=False)
        found = {}
        for name, check in FOUND.findall(done.stdout):
            found.setdefault(name, set()).add(check)
        return done.returncode, found, done.stdout.splitlines()[-1]

    def good(self, count):
        return {f"good{number}": GOOD.replace("NUMBER", str(number)) for number in range(count)}

    def test_each_check_finds_together_what_it_finds_alone(self):
        wanted = set(re.findall(r"// ([a-z-]+(?:34-c|30-c)?)$", BAD, re.M)) - {"namespace"}
        self.assertGreater(len(wanted), 12)
        status, alone, _ = self.tidy(bad=BAD)
        self.assertEqual(status, 1)
        self.assertEqual(alone["bad.cpp"], wanted)
        self.assertEqual(alone["shared.h"], {"google-explicit-constructor"})
        self.assertEqual(self.tidy(bad=BAD, **self.good(3))[:2], (1, alone))

    def test_clean_ones_are_remembered_and_changed_ones_looked_at(self):
        self.write("shared.h", HEADER.replace("Shared(int)", "explicit Shared(int)"))
        self.assertEqual(self.tidy(**self.good(3)), (0, {}, "3 sources looked at, 0 known to be clean, 0 left out, 0 runs with findings"))
        more = {**self.good(3), "bad": BAD}
        status, found, last = self.tidy(**more)
        self.assertEqual((status, list(found)), (1, ["bad.cpp"]))
        self.assertEqual(last, "1 sources looked at, 3 known to be clean, 0 left out, 1 runs with findings")

    def test_sources_with_a_name_in_common_are_not_together(self):
        for text in ("constexpr int kSame = 1;", "int same(int a) {", "struct Same {", "Expected<int> same(\n    int a) {", "using Same = int;"):
            other = text.replace("int a", "long b").replace(" 1", " 2")
            inside = ["namespace {\n\n" + one + "\n}\n\n}  // namespace\n" for one in (text, other)]
            self.assertEqual(self.group_sizes([*inside, GOOD]), [2, 1], text)
            self.assertEqual(self.group_sizes([inside[0], other.replace("\n", " "), GOOD]), [3], text)  # of no concern: ODR
        self.assertEqual(self.group_sizes(["static int same() {", "static int same() {"]), [1, 1])
        self.assertEqual(self.group_sizes(["#define SAME 1", "#define SAME 2"]), [1, 1])

    def test_names_that_meet_all_the_same_part_the_sources_and_hide_nothing(self):
        self.write("shared.h", HEADER.replace("Shared(int)", "explicit Shared(int)"))
        clashes = {f"clash{number}": CLASH.replace("NUMBER", str(number)) for number in range(3)}
        status, found, last = self.tidy(**clashes, bad=BAD)
        self.assertEqual((status, list(found)), (1, ["bad.cpp"]))
        self.assertTrue(last.startswith("4 sources looked at"), last)

    def test_what_does_not_compile_is_not_clean(self):
        status, found, _ = self.tidy(broken="int f() { return nobody; }\n", **self.good(2))
        self.assertEqual((status, found["broken.cpp"]), (1, {"clang-diagnostic-error"}))

    def test_whoever_has_a_using_declaration_or_an_alias_is_alone(self):
        status, found, _ = self.tidy(one=USING, two=GOOD.replace("int good_NUMBER() { return NUMBER; }", "using std::vector; vector<int> f();"))
        self.assertEqual((status, found["one.cpp"]), (1, {"misc-unused-using-decls"}))
        for text in ("using std::string;", "  using a::b::c ;", "namespace fs = std::filesystem;\nstd::fs::path p;", "using a::b, a::c;"):
            self.assertEqual(self.group_sizes([GOOD, text, GOOD]), [2, 1], text)
        for text in ("namespace fs = std::filesystem;\nfs::path p;", "using namespace std::literals;", "using A = std::vector<int>;", "namespace mayfly {", "// using std::string;"):
            self.assertEqual(self.group_sizes([GOOD, text, GOOD]), [3], text)

    def test_a_run_has_no_more_than_its_most_and_one_command_line(self):
        self.assertEqual(self.group_sizes([GOOD] * (2 * MOST_TOGETHER + 1)), [MOST_TOGETHER, MOST_TOGETHER, 1])
        self.assertEqual(self.group_sizes([GOOD] * 4, lambda number: f"-DPART={number % 2}"), [2, 2])

    def group_sizes(self, texts, flag=lambda number: ""):
        sources = []
        for number, text in enumerate(texts):
            self.write(f"{number}.cpp", text + "\n")
            path = f"jail/wire/{number}.cpp"
            sources.append(Source(path, self.root, f"c++ {flag(number)} -o w.dir/{number}.o -c {os.path.join(self.root, path)}"))
        return [len(group) for group in groups(self.root, sources)]


if __name__ == "__main__":
    unittest.main()
