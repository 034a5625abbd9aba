#!/usr/bin/env python3
"""The replay of the SSH fuzzer: holds a corpus to its claims, and leaves an input behind only when it says so."""
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

REPLAY = os.path.join(os.environ["MAYFLY_BIN"], "tests/fuzz_session_replay")
CORPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus/ssh")
LEFT = "fuzz_session_last_input"
SEED = "login-password"  # logins=1 asked=1


class Replay(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="mayfly-replay-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.place = os.path.join(self.folder, "working")
        os.mkdir(self.place)

    def run_on(self, *arguments):
        """(whether it was content, what it said, what it has left)"""
        done = subprocess.run([REPLAY, *arguments], cwd=self.place, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))
        return done.returncode == 0, done.stdout, os.listdir(self.place)

    def run_with(self, claims):
        corpus = os.path.join(self.folder, "corpus")
        os.makedirs(corpus, exist_ok=True)
        shutil.copy(os.path.join(CORPUS, SEED), corpus)
        with open(corpus + ".claims", "w") as file:
            file.write(claims)
        return self.run_on(corpus, "0")

    def test_files_are_played_and_nothing_is_left(self):
        seed = os.path.join(CORPUS, SEED)
        good, said, left = self.run_on(seed, seed)
        self.assertTrue(good, said)
        self.assertEqual(said.count(" logins=1"), 2)
        self.assertEqual(left, [])
        good, said, left = self.run_on(seed + "-that-is-not-there")
        self.assertFalse(good)
        self.assertEqual(left, [])

    def test_true_claims_are_held_and_nothing_is_left(self):
        good, said, left = self.run_with(f"{SEED} logins=1 asked>=1 asked<=1\n")
        self.assertTrue(good, said)
        self.assertIn("1 inputs of the corpus, 3 claims held, 1536 messages alone", said)
        self.assertEqual(left, [])

    def test_a_false_claim_is_found_and_the_input_is_where_it_says(self):
        for claim in ("logins=2", "logins=0", "logins>=2", "logins<=0"):
            with self.subTest(claim=claim):
                good, said, left = self.run_with(f"{SEED} {claim}\n")
                self.assertFalse(good)
                self.assertIn(f"{SEED}: {claim}, it is 1", said)
                self.assertIn(f"a broken rule leaves its input in {os.path.join(self.place, LEFT)}", said)
                self.assertEqual(left, [LEFT])
                with open(os.path.join(self.place, LEFT), "rb") as found, open(os.path.join(CORPUS, SEED), "rb") as played:
                    self.assertEqual(found.read(), played.read())

    def test_claims_of_nothing_or_nobody_are_found(self):
        for claims in ("", f"# {SEED} logins=1\n", "nobody logins=1\n", f"{SEED} nothing=1\n", f"{SEED} logins\n", f"{SEED} logins=\n"):
            with self.subTest(claims=claims):
                self.assertFalse(self.run_with(claims)[0])


if __name__ == "__main__":
    sys.exit(0 if unittest.main(exit=False).result.wasSuccessful() else 1)
