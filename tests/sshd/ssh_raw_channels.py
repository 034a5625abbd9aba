#!/usr/bin/env python3
"""Channels of peers that keep no rules, after login: hostile.md B16, B17, B19, B21 to B24, B27, B32 and B34, byte by byte."""
import os
import signal
import socket
import struct
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import client  # noqa: E402
import raw_ssh  # noqa: E402
from raw_case import RawCase, attempted  # noqa: E402
from raw_channel import Silence  # noqa: E402
from raw_messages import (ADJUST, CLOSE, DATA, EOF, EXTENDED_DATA, FAILURE, KEXINIT, OPEN_FAILURE, OPENED, REQUEST, SUCCESS, number,  # noqa: E402
                          open_request, text)

LARGEST = 250_000  # of what fits into a packet, about


def pty(term="xterm", columns=80, rows=24, modes=b""):
    return text(term) + struct.pack(">IIII", columns % (1 << 32), rows % (1 << 32), 0, 0) + text(modes)


class Channels(RawCase):
    def setUp(self):
        super().setUp()
        self.opened_at_the_supervisor()
        self.own = self.inside(raw_ssh.offering(ciphers=("aes128-ctr",)))  # quicker to make here

    def opened_at_the_supervisor(self):
        """What was asked to run since the last look."""
        heard = self.front_end.heard()
        seen, self.front_end.seen = getattr(self.front_end, "seen", 0), len(heard)
        return [message for message in heard[seen:] if message["say"] == "open"]

    def running(self, command, **more):
        channel = self.own.open_channel(**more)
        self.assertTrue(channel.run(command))
        return channel

    def assert_another_works(self):
        self.assertTrue(self.echoes(self.running("cat")))


class HowMany(Channels):
    def test_of_ten_thousand_opens_ten_are_served(self):  # B16
        self.own.send(*(open_request(number) for number in range(100, 10_100)))
        answers = [self.own.read()[0] for _ in range(10_000)]
        self.assertEqual((answers.count(OPENED), answers.count(OPEN_FAILURE)), (10, 9_990))
        self.assertEqual(set(answers[:10]), {OPENED})
        self.assert_alive(self.own)

    def test_a_thousand_channels_that_are_opened_and_closed_leave_no_memory(self):  # B16
        self.open_and_close(100)
        before = self.memory()
        self.open_and_close(1000)
        self.assert_grew_little(before, 2 << 10)
        self.assert_another_works()

    def open_and_close(self, times):
        for _ in range(times):
            channel = self.own.open_channel()
            channel.say(CLOSE)
            while channel.read()[0] != CLOSE:
                pass
            self.own.channels.clear()

    def test_programs_asked_for_in_one_segment_are_one(self):  # B23
        channel = self.own.open_channel()
        requests = [text("exec") + b"\1" + text("cat"), text("exec") + b"\1" + text("echo second"), text("shell") + b"\1",
                    text("pty-req") + b"\1" + pty(), text("subsystem") + b"\1" + text("sftp")]
        self.own.send(*(bytes([REQUEST]) + number(channel.theirs) + request for request in requests * 20))
        answers = [channel.answer() for _ in range(100)]
        self.assertEqual((answers[0], set(answers[1:])), (SUCCESS, {FAILURE}))
        self.assertTrue(self.echoes(channel))
        self.assertEqual(len(self.opened_at_the_supervisor()), 1)


class Windows(Channels):
    def test_a_window_of_nothing_stops_one_program_only(self):  # B17
        stuck = self.running("head -c 10000000 /dev/zero", window=0)
        before = self.memory()
        for _ in range(5):
            self.assert_another_works()
        self.assertFalse(stuck.waiting)
        self.assert_grew_little(before, 2 << 10)
        stuck.adjust(1 << 21)
        self.assertEqual(len(stuck.to_the_end().out), 10_000_000)

    def test_a_window_is_never_exceeded(self):  # B17
        channel = self.running("head -c 100000 /dev/zero; echo x >&2", window=1000, most=300)
        for _ in range(150):
            while channel.window and len(channel.waiting) == 0 and self.own.has_something(1):
                payload = channel.read()
                if payload[0] not in (DATA, EXTENDED_DATA):
                    channel.waiting.append(payload)
                    break
                part = payload[9:] if payload[0] == DATA else payload[13:]
                self.assertLessEqual(len(part), min(300, channel.window))
                channel.window -= len(part)
            channel.adjust(1000)
        self.assertEqual(channel.to_the_end().order[-3:], [EOF, "exit-status", CLOSE])

    def test_packets_of_a_few_bytes_are_served_and_of_none_passed_over(self):
        for most in (1, 9, 11, 64):
            with self.subTest(most=most):
                channel = self.running("echo abc; exit 3", most=most)
                self.assertEqual(channel.to_the_end().out, b"abc\n")
        self.own.send(open_request(99, most=0))
        self.assert_alive(self.own)  # its answer is the first thing that comes

    def test_a_loop_without_end_in_the_library_ends_the_session_and_its_program(self):
        """For libssh 0.10.6 packets of ten bytes are ten bytes of headers and nothing else, over and over."""
        self.own.close()
        self.trouble_expected = "signal=%d" % signal.SIGPROF
        with tempfile.NamedTemporaryFile() as mark:
            peer = self.inside()
            self.assertTrue(peer.open_channel(most=10).run("echo $$ > %s; echo abc; exec sleep 100" % mark.name))
            self.assertTrue(client.until(lambda: os.path.getsize(mark.name) > 1, 20))
            pid = int(mark.read())
            self.assertTrue(client.until(lambda: self.processor_seconds() > 0.5, 20))
            peer.close()
            self.assertTrue(client.until(lambda: not self.front_end.sessions(), 30))
            self.assertTrue(client.until(lambda: not os.path.exists("/proc/%d" % pid), 5))
        self.assertTrue(client.until(lambda: self.trouble_expected in self.front_end.log_text(), 5))

    def processor_seconds(self):
        """That the one session process has used."""
        with open("/proc/%d/stat" % self.front_end.sessions()[0]) as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def test_a_window_past_its_end_ends_the_connection(self):  # B19
        for first, added in ((0xffffffff, 1), (0xffffffff, 0xffffffff), (1 << 31, 1 << 31)):
            with self.subTest(first=first, added=added):
                peer = self.inside()
                channel = peer.open_channel(window=first)
                channel.run("cat")
                channel.adjust(added)
                self.assertEqual(self.assert_ends(peer), "window exceeded")
        self.assert_another_works()

    def test_a_packet_larger_than_was_agreed_on_is_whole_or_the_end(self):  # B21
        channel = self.running("cat")
        data = os.urandom(LARGEST)
        channel.say(DATA, text(data))
        channel.end_input()
        self.assertIn(getattr(attempted(channel.to_the_end), "out", None), (data, None))

    def test_what_nobody_reads_fills_one_window_and_then_ends_the_connection(self):  # B21
        channel = self.running("sleep 100")
        before = self.memory()
        channel.send(bytes(channel.room))
        self.assert_alive(self.own)
        self.assert_grew_little(before)
        attempted(self.own.send, *[bytes([DATA]) + number(channel.theirs) + text(bytes(32000))] * 200)
        self.assert_ends(self.own)


class NotThere(Channels):
    def test_words_to_channels_that_are_closed_or_never_were_harm_nobody(self):  # B22
        words = {EOF: b"", CLOSE: b"", DATA: text("data"), EXTENDED_DATA: number(1) + text("data"), ADJUST: number(1 << 20),
                 REQUEST: text("exec") + b"\1" + text("echo x"), SUCCESS: b"", FAILURE: b"", OPENED: number(0) * 3,
                 OPEN_FAILURE: number(1) + text("") * 2}
        for kind, rest in words.items():
            for place in ("closed", "never was", "running", "not started"):
                with self.subTest(kind=kind, place=place):
                    peer = self.inside()
                    channel = peer.open_channel()
                    if place in ("closed", "running"):
                        self.assertTrue(channel.run("exit 0" if place == "closed" else "sleep 20"))
                    if place == "closed":
                        channel.to_the_end()
                    target = 0x01020304 if place == "never was" else channel.theirs
                    attempted(peer.send, *[bytes([kind]) + number(target) + rest] * 20, bytes([kind]) + number(target), bytes([kind]))
                    try:
                        peer.read_until_gone(0.02)
                    except Silence:
                        pass  # ignored, as good
                    peer.close()
        self.assert_another_works()
        self.assertNotIn("echo x", str(self.front_end.heard()))

    def test_the_end_of_input_twice_and_data_after_it_reach_no_program(self):  # B22
        channel = self.running("cat")
        channel.send(b"before")
        for _ in range(3):
            channel.end_input()
            channel.say(DATA, text("after"))
        self.assertTrue(getattr(attempted(channel.to_the_end), "out", b"before").startswith(b"before"))
        peer = self.inside()
        self.assertTrue(self.echoes(self.on(peer, "cat")))

    def on(self, peer, command):
        channel = peer.open_channel()
        self.assertTrue(channel.run(command))
        return channel


class Requests(Channels):
    def test_terminals_of_any_size_and_name_are_clamped(self):  # B24
        sizes = {(0, 0): (80, 24), (-1, -1): (1000, 1000), (1, 1): (1, 1), (1 << 31, 5): (1000, 5), (120, 40): (120, 40)}
        for (columns, rows), wanted in sizes.items():
            with self.subTest(columns=columns, rows=rows):
                self.assertEqual(self.terminal(pty("xterm", columns, rows)), {"term": "xterm", "columns": wanted[0], "rows": wanted[1]})
        for term in ("", "\x1b[31m", "../../etc/passwd", "x" * 100_000, "xterm\0x", "a b", "%s", "\xff"):
            with self.subTest(term=term[:20]):
                self.assertIn(self.terminal(pty(term))["term"], ("", "xterm"))  # cut at the NUL

    def test_modes_without_end_are_passed_over(self):  # B24
        before = self.memory()
        for modes in (b"\1\0\0\0\3" * (LARGEST // 5), b"\x80" * LARGEST, b"\1", b"\xff" * 1000):
            self.assertEqual(self.terminal(pty(modes=modes))["columns"], 80)
        self.assert_grew_little(before)

    def terminal(self, request):
        """As the supervisor is asked for it."""
        channel = self.own.open_channel()
        self.assertTrue(channel.request("pty-req", request))
        self.assertTrue(channel.run("true"))
        channel.to_the_end()
        return self.opened_at_the_supervisor()[0]["request"]["terminal"]

    def test_a_command_is_passed_whole_or_refused(self):  # B27
        for command in (b"", b"\n", b"a\nb\r\n", b"\xff\xfe\xc3\x28", b"'\"$(`\\", "\u202e".encode(), b"x" * LARGEST):
            with self.subTest(command=command[:20]):
                channel = self.running(command)
                channel.to_the_end()
                payload = self.opened_at_the_supervisor()[0]["request"].get("payload", [{"length": 0}])
                self.assertEqual(payload[0]["length"], len(command))
        for command in (b"\0", b"true\0", b"true\0; false"):
            with self.subTest(command=command):
                self.assertFalse(self.own.open_channel().run(command))
        self.assertEqual(self.opened_at_the_supervisor(), [])
        self.own.send(bytes([REQUEST]) + number(0) + text("exec") + b"\1" + text("x" * 300_000))
        self.assert_ends(self.own)
        self.assertEqual(self.opened_at_the_supervisor(), [])


class Ends(Channels):
    def test_the_end_comes_in_order_and_each_word_once(self):  # B34
        ends = {"exit 3": [EOF, "exit-status", CLOSE], "echo out": [DATA, EOF, "exit-status", CLOSE],
                "echo err >&2": [EXTENDED_DATA, EOF, "exit-status", CLOSE], "kill -TERM $$": [EOF, "exit-signal", CLOSE],
                "echo out; kill -KILL $$": [DATA, EOF, "exit-signal", CLOSE], "fake:refuse": [EXTENDED_DATA, EOF, "exit-status", CLOSE],
                "fake:time-limit": [EXTENDED_DATA, EOF, "exit-status", CLOSE],
                "head -c 3000000 /dev/zero": [DATA, EOF, "exit-status", CLOSE]}
        for command, order in ends.items():
            with self.subTest(command=command):
                self.assertEqual(self.running(command).to_the_end().order, order)
                self.assert_alive(self.own)  # and nothing came behind the CLOSE

    def test_whoever_leaves_at_any_state_takes_its_program_along(self):  # B32
        for state in ("no channel", "no program", "running", "writing", "half a packet", "half an exchange"):
            for way in ("RST", "FIN"):
                with self.subTest(state=state, way=way):
                    peer = self.inside()
                    pid = self.leaving_in(peer, state)
                    if way == "RST":
                        peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    peer.close()
                    self.assertTrue(client.until(lambda: len(self.front_end.sessions()) == 1, 2))
                    self.assertTrue(client.until(lambda: not pid or not os.path.exists("/proc/%d" % pid), 2))

    @staticmethod
    def leaving_in(peer, state):
        if state == "no channel":
            return None
        channel = peer.open_channel()
        if state == "no program":
            return None
        channel.run("echo $$; exec %s" % ("cat /dev/zero" if state == "writing" else "sleep 100"))
        pid = int(channel.read()[9:].split(b"\n")[0])  # what is written may come with it
        if state == "half a packet":
            peer.send_raw(peer.seal(bytes([DATA]) + number(channel.theirs) + text("x" * 100))[:50])
        if state == "half an exchange":
            peer.send(peer.offer.payload())
            peer.read_of_kind(KEXINIT)
        return pid


if __name__ == "__main__":
    sys.exit(0 if client.run_tests() else 1)
