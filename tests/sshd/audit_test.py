#!/usr/bin/env python3
"""P43: ssh-audit finds no failure in the front end (hostile.md B40).

The report must be a real one: it names our banner and exactly the algorithms that we mean to offer, and the same
reading of it finds the failures of a server that has some.
"""
import logging
import os
import re
import socket
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import paramiko  # noqa: E402
import client  # noqa: E402

# sshd/session/algorithms.cpp. kex-strict is libssh's own, and no key exchange: it says that Terrapin is answered.
OFFERED = {
    "kex": ["curve25519-sha256", "curve25519-sha256@libssh.org", "kex-strict-s-v00@openssh.com"],
    "key": ["ssh-ed25519"],
    "enc": ["chacha20-poly1305@openssh.com", "aes256-ctr", "aes192-ctr", "aes128-ctr"],
    "mac": ["hmac-sha2-256-etm@openssh.com", "hmac-sha2-512-etm@openssh.com"],
}
ROW = re.compile(r"^\((gen|kex|key|enc|mac|fin|rec|nfo|sec|aut)\) (\S+)")
FAILED = 3  # ssh-audit's exit status for "at least one failure"; 2 is for warnings, 1 for no connection


class Report:
    def __init__(self, port):
        done = subprocess.run(["ssh-audit", "-4", "--no-colors", "--timeout=20", f"--port={port}", "127.0.0.1"],
                              capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
        self.status, self.text = done.returncode, done.stdout + done.stderr
        self.failures = [line for line in self.text.splitlines() if "[fail]" in line]

    def rows(self, kind):
        """The names in the rows of this kind, each once, in order."""
        found = [ROW.match(line) for line in self.text.splitlines()]
        return list(dict.fromkeys(row.group(2) for row in found if row and row.group(1) == kind))


class Audit(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.report = Report(client.PORT)

    def test_the_report_is_about_us(self):
        self.assertIn("(gen) banner: SSH-2.0-mayfly_", self.report.text)
        self.assertIn("(fin) ssh-ed25519: SHA256:", self.report.text)

    def test_exactly_the_chosen_algorithms_are_offered(self):  # B40
        for kind, names in OFFERED.items():
            with self.subTest(kind=kind):
                self.assertEqual(self.report.rows(kind), names, self.report.text)

    def test_compression_is_not_offered(self):  # B37
        self.assertIn("(gen) compression: disabled", self.report.text)

    def test_nothing_fails(self):
        self.assertEqual(self.report.failures, [], self.report.text)
        self.assertIn(self.report.status, (0, 2), self.report.text)

    def test_a_server_with_failures_has_them_found(self):
        report = audit_of_a_bad_server()
        self.assertEqual(report.status, FAILED, report.text)
        self.assertTrue(any("ecdsa-sha2-nistp256" in line for line in report.failures), report.text)
        self.assertIn("ecdsa-sha2-nistp256", report.rows("key"))


def audit_of_a_bad_server():
    """paramiko's own server, with a key on a curve that ssh-audit does not trust."""
    logging.getLogger("paramiko").addHandler(logging.NullHandler())  # that no key exchange is agreed on is its daily bread
    key = paramiko.ECDSAKey.generate()
    peers = []

    def serve(listener):
        while True:
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            peers.append(paramiko.Transport(peer))
            peers[-1].add_server_key(key)
            peers[-1].start_server(event=threading.Event(), server=paramiko.ServerInterface())
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, args=(listener,), daemon=True).start()
        report = Report(listener.getsockname()[1])
        listener.shutdown(socket.SHUT_RDWR)
    for peer in peers:
        peer.close()
    return report


if __name__ == "__main__":
    sys.exit(0 if client.run_tests() else 1)
