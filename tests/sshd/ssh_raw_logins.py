#!/usr/bin/env python3
"""Peers that try to get in by other means than a good proof (P41): hostile.md B03, B04, B05 and B36, byte by byte.

The played supervisor lets in every key and every code but one, so what counts is what it is asked.
"""
import base64
import os
import re
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import client  # noqa: E402
from cryptography.hazmat.primitives import serialization  # noqa: E402
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: E402
from fake_supervisor import WRONG_CODE  # noqa: E402
from raw_case import RawCase, attempted  # noqa: E402
from raw_channel import Gone  # noqa: E402
from raw_messages import AUTH_FAILURE, AUTH_KEY_OK, AUTH_SUCCESS, login_request, number, text  # noqa: E402

ENOUGH = ("too many attempts to log in", "too many packets before login", None)


class Key:
    def __init__(self):
        self.private = Ed25519PrivateKey.generate()
        raw = self.private.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
        self.blob = text("ssh-ed25519") + text(raw)
        self.base64 = base64.b64encode(self.blob).decode()

    def offer(self, kind="ssh-ed25519", blob=None):
        return b"\0" + text(kind) + text(self.blob if blob is None else blob)

    def signature(self, peer, user):
        """Over what RFC 4252, 7 says."""
        signed = text(peer.session_id) + login_request(user, "publickey", b"\1" + text("ssh-ed25519") + text(self.blob))
        return text("ssh-ed25519") + text(self.private.sign(signed))

    def proof(self, signature):
        return b"\1" + text("ssh-ed25519") + text(self.blob) + text(signature)

    def sign_in(self, peer, user):
        return peer.ask_login(user, "publickey", self.proof(self.signature(peer, user)))


class Logins(RawCase):
    def at_the_door(self):
        peer = self.with_keys()
        peer.ask_service()
        return peer

    def setUp(self):
        super().setUp()
        self.logins()

    def logins(self):
        """Way, user and credential of what the supervisor was asked since the last look."""
        heard = self.front_end.heard()
        seen, self.front_end.seen = getattr(self.front_end, "seen", 0), len(heard)
        return [(message["way"], message["user"], message["credential"]) for message in heard[seen:] if message["say"] == "log-in"]

    def test_a_key_that_signs_well_is_the_one_that_is_told(self):  # the control of the others; B03
        peer, shown, used = self.at_the_door(), Key(), Key()
        self.assertEqual(peer.ask_login("run", "publickey", shown.offer()), AUTH_KEY_OK)
        self.assertEqual(used.sign_in(peer, "python"), AUTH_SUCCESS)
        self.assertEqual(self.logins(), [("key-offer", "run", shown.base64), ("key", "python", used.base64)])
        channel = peer.open_channel()
        self.assertTrue(channel.run("print(6*7)"))
        self.assertEqual(channel.to_the_end().out, b"42\n")  # python: the name of the request that was signed

    def test_a_signature_of_another_key_name_or_session_is_none(self):  # B03
        own, other = Key(), Key()
        for name in ("of another key", "for another name", "of another session", "cut", "empty", "of another kind"):
            with self.subTest(signature=name):
                peer = self.at_the_door()
                self.assertEqual(peer.ask_login("run", "publickey", own.offer()), AUTH_KEY_OK)
                signature = {"of another key": other.signature(peer, "run"), "for another name": own.signature(peer, "python"),
                             "of another session": own.signature(self.with_keys(), "run"), "cut": own.signature(peer, "run")[:-1],
                             "empty": b"", "of another kind": text("ssh-rsa") + own.signature(peer, "run")[15:]}[name]
                peer.send(login_request("run", "publickey", own.proof(signature)))
                # libssh has no answer to some of them, and none of them is a login.
                self.assertIsNone(peer.open_channel() if peer.has_something(0.2) and peer.read()[0] != AUTH_FAILURE else None)
                self.assertEqual([way for way, _, _ in self.logins()], ["key-offer"])
                peer.close()

    def test_a_thousand_bad_proofs_are_cut_early_and_asked_about_little(self):  # B04
        key = Key()
        bad = {"signature": key.proof(text("ssh-ed25519") + text(bytes(64))), "no key": key.offer(blob=b""),
               "cut key": key.offer(blob=key.blob[:20]), "nonsense": key.offer(blob=os.urandom(3000)),
               "another key's name": key.offer(blob=text("ssh-rsa") + text(b"x") + text(b"y")),
               "unknown kind": key.offer("ssh-none@example.org", text("ssh-none@example.org")),
               "small RSA": key.offer("rsa-sha2-256", text("ssh-rsa") + text(b"\3") + text(b"\0" + b"\xff" * 64)),
               "lengths": b"\1" + number(0xffffffff) + b"x"}
        for name, rest in bad.items():
            with self.subTest(proof=name):
                peer = self.at_the_door()
                attempted(peer.send, *[login_request("run", "publickey", rest)] * 1000)
                self.assertIn(self.assert_ends(peer), ENOUGH)
                peer.close()
                logins = self.logins()
                self.assertLessEqual(len(logins), 6)
                self.assertNotIn("key", [way for way, _, _ in logins])

    def test_thousands_of_attempts_are_six(self):  # B05
        for name, rest in {"password": b"\0" + text(WRONG_CODE), "none": b"", "hostbased": text("x") * 4, "no-such": b"",
                           "keyboard-interactive": text("") * 2, "gssapi-with-mic": number(1) + text(b"\6\1\0")}.items():
            with self.subTest(method=name):
                peer = self.at_the_door()
                attempted(peer.send, *[login_request("nobody", name, rest)] * 3000)
                self.assertIn(self.assert_ends(peer), ENOUGH)
                peer.close()
                asked = len(self.logins())
                self.assertLessEqual(asked, 7)  # and one for nothing
                if name in ("password", "none"):  # what the others begin is never ended, or not offered
                    self.assertGreaterEqual(asked, 6, name)

    def test_names_and_passwords_of_256_kb_cost_one_answer(self):  # B05
        big = "x" * 260_000
        peer = self.at_the_door()
        self.assertEqual(peer.ask_password(big, "x"), AUTH_FAILURE)
        self.assertEqual(peer.ask_login("nobody", "password", b"\0" + text(big)), AUTH_FAILURE)
        self.assertEqual(peer.ask_login("nobody", "password", b"\1" + text("x") + text(big)), AUTH_FAILURE)  # a change of it
        self.assertEqual(peer.ask_password("run", big), AUTH_SUCCESS)  # no code is asked for
        logins = self.logins()
        self.assertGreater(len(logins), 1)
        self.assertTrue(all(len(user) <= 64 and len(credential) <= 256 for _, user, credential in logins))
        for size in (262_144, 1 << 20):
            peer = self.at_the_door()
            attempted(peer.send, login_request("run", "password", b"\0" + text("x" * size)))
            self.assert_ends(peer)

    def test_a_bad_name_and_a_bad_code_have_the_same_answer_in_the_same_time(self):  # B36
        answers, times = {}, {}
        for _ in range(8):
            for name, (user, code) in {"code": ("run", WRONG_CODE), "name": ("nobody", "any"), "both": ("nobody", WRONG_CODE)}.items():
                peer = self.at_the_door()
                for _ in range(4):
                    begin = time.monotonic()
                    peer.send(login_request(user, "password", b"\0" + text(code)))
                    answers.setdefault(name, set()).add(peer.read())
                    times.setdefault(name, []).append(time.monotonic() - begin)
                peer.close()
        self.assertEqual(len(set.union(*answers.values())), 1, answers)
        quickest = {name: min(all_times) for name, all_times in times.items()}  # the machine's other work is in the others
        self.assertLess(max(quickest.values()), 2 * min(quickest.values()) + 0.0005, quickest)

    def test_names_reach_the_log_escaped_and_nothing_else(self):  # B36
        for user in ("../../etc/passwd", "%s%s%n", "\x1b]0;x\x07", "$(id)", "run;id", "run\0root", "\xff\xfe", "", "x" * 65536):
            with self.subTest(user=user[:20]):
                begin = len(self.front_end.log_text())
                peer = self.at_the_door()
                answers = [attempted(peer.ask_password, user, WRONG_CODE) for _ in range(6)]
                self.assertEqual(answers[0], AUTH_FAILURE)
                self.assertNotIn(AUTH_SUCCESS, answers)
                peer.close()
                self.assertTrue(client.until(lambda: "sshd.closed" in self.front_end.log_text()[begin:], 10))
                for line in self.front_end.log_text()[begin:].splitlines():
                    self.assertTrue(line.isprintable(), line)
                    self.assertLess(len(line), 500)

    def test_a_login_twice_ends_it_and_changes_nobody(self):
        peer = self.at_the_door()
        self.assertEqual(peer.ask_login("run"), AUTH_SUCCESS)
        with self.assertRaises(Gone):
            peer.ask_login("python")
        self.assertEqual([user for _, user, _ in self.logins()], ["run"])


if __name__ == "__main__":
    sys.exit(0 if client.run_tests() else 1)
