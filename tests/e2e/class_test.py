"""P05: a class of thirty. Codes from one table, one address for all, thirty Pythons at once with the exercise in each."""
import atexit
import csv
import errno
import io
import json
import os
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import SSH, Service, run_tests, wait_until  # noqa: E402

STUDENTS = 30
EXERCISE = "# Print the sum of what was measured.\n"
MEASURED = "3,4,5\n"
ASKS = ["BatchMode=no" if word == "BatchMode=yes" else word for word in SSH] + ["-o", "NumberOfPasswordPrompts=1"]

FOLDER = tempfile.mkdtemp(prefix="mayfly-class-")
atexit.register(shutil.rmtree, FOLDER)


def put(name, text, mode=0o644):
    with open(os.path.join(FOLDER, name), "w") as file:
        file.write(text)
    os.chmod(file.name, mode)
    return file.name


os.chmod(FOLDER, 0o755)
for name in ("seed", "readonly"):
    os.mkdir(os.path.join(FOLDER, name))
put("seed/exercise.py", EXERCISE)
put("readonly/measured.csv", MEASURED, 0o666)  # that nobody changes it is not the file's own doing
put("askpass", "#!/bin/sh\necho \"$MAYFLY_CODE\"\n", 0o700)
CONFIG = put("mayfly.jsonc", json.dumps({
    "access": {"ssh": ["invites"]},
    "profiles": {"python": {"seed": f"{FOLDER}/seed", "readonly": f"{FOLDER}/readonly"}}}))
service = Service("--config", CONFIG, open_door=False)
atexit.register(lambda: service.process.poll() is None and service.stop())


def with_code(code):
    return {**os.environ, "SSH_ASKPASS": f"{FOLDER}/askpass", "SSH_ASKPASS_REQUIRE": "force", "MAYFLY_CODE": code, "TERM": "xterm"}


class Student:
    """ssh on a terminal, as a student starts it; the code comes from where ssh asks for it."""

    def __init__(self, invite):
        self.name, self.text = invite["name"], b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execve(ASKS[0], [*ASKS, "-p", str(service.ssh_port), "python@127.0.0.1"], with_code(invite["code"]))

    def type(self, line):
        os.write(self.fd, line.encode() + b"\r")

    def expect(self, what, seconds=60):
        """What came until then."""
        end = time.monotonic() + seconds
        while what not in self.text:
            assert select.select([self.fd], [], [], max(end - time.monotonic(), 0))[0], f"{self.name} never saw {what}: {self.text}"
            try:
                self.text += os.read(self.fd, 65536)
            except OSError:
                raise AssertionError(f"{self.name} was out before {what}: {self.text}") from None
        before, _, self.text = self.text.partition(what)
        return before

    def leave(self):
        os.close(self.fd)
        os.waitpid(self.pid, 0)


def all_do(students, line, wanted):
    """Everybody types it, and then sees what is wanted: a line of their own, or the same for all."""
    for student in students:
        student.type(line(student) if callable(line) else line)
    for student in students:
        student.expect(b"\r\n" + (wanted(student) if callable(wanted) else wanted).encode() + b"\r\n")
        student.expect(b">>> ")


def do_the_exercise(students):
    all_do(students, "print(open('exercise.py').read(), end='')", EXERCISE.strip())
    all_do(students, "sum(map(int, open('/data/measured.csv').read().split(',')))", "12")
    for attempt in ("open('/data/measured.csv', 'w')", "import os; os.remove('/data/measured.csv')", "open('/data/more', 'w')"):
        all_do(students, f"try: {attempt}\rexcept OSError as no: print('refused', no.errno)\r", f"refused {errno.EROFS}")


def see_nobody_else(students):
    """Each writes a name into its copy of the exercise; then everybody's has one name, their own."""
    all_do(students, lambda student: f"open('exercise.py', 'a').write('{student.name}')", lambda student: str(len(student.name)))
    all_do(students, "open('exercise.py').read().splitlines()[1:], len(open('/tmp/mine', 'a').name)", lambda student: f"(['{student.name}'], 9)")
    all_do(students, "len([pid for pid in os.listdir('/proc') if pid.isdigit()])", "1")  # this Python
    with open(f"{FOLDER}/seed/exercise.py") as file:
        assert file.read() == EXERCISE
    with open(f"{FOLDER}/readonly/measured.csv") as file:
        assert file.read() == MEASURED


def test_a_class_of_thirty_behind_one_address_has_its_exercise_and_nobody_elses_work():
    table = service.mayfly("invite", "--name", "class", "--profile", "python", "--count", str(STUDENTS), "--uses", "1", "--csv", "--state", service.state)
    invites = list(csv.DictReader(io.StringIO(table.stdout.decode())))
    assert len(invites) == STUDENTS, table
    began = time.monotonic()
    students = [Student(invite) for invite in invites]
    try:
        for student in students:
            student.expect(b"gone when you leave")
            student.expect(b">>> ")
        print(f"        all are in after {time.monotonic() - began:.1f} s")
        assert sorted(row["principal"] for row in service.jails()) == sorted(f"invite:{invite['name']}" for invite in invites)
        do_the_exercise(students)
        see_nobody_else(students)
        assert len(service.jails()) == STUDENTS
        used_up = subprocess.run([*ASKS, "-p", str(service.ssh_port), "python@127.0.0.1", "print(1)"], stdin=subprocess.DEVNULL,
                                 capture_output=True, timeout=60, env=with_code(invites[0]["code"]))
        assert used_up.returncode == 255 and b"Permission denied" in used_up.stderr and used_up.stdout == b"", used_up
    finally:
        for student in students:
            student.leave()
    wait_until(lambda: not service.jails(), 10, "their jails are gone with them")
    assert "dropped=0 " in stopped_log()


def stopped_log():
    """With the summary at its end: nobody of the class was refused at arrival."""
    service.end()
    return service.log_text()


if __name__ == "__main__":
    run_tests(sys.modules[__name__])
