"""P22, and the folders of a profile at a running service: what is told of them, what is refused because of them, when they take a restart."""
import atexit
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import BIN, Service, run_tests, wait_until  # noqa: E402

FOLDER = tempfile.TemporaryDirectory(prefix="mayfly-folders-")
os.chmod(FOLDER.name, 0o755)


def put(name, text):
    path = f"{FOLDER.name}/{name}"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)
    return path


put("seed/exercise.py", "mine\n")
put("seed/part/one", "1")
put("seed/large", "x" * (3 << 20))
put("data/table", "ours\n")
CONFIG = put("mayfly.jsonc", json.dumps({"profiles": {"python": {"seed": f"{FOLDER.name}/seed", "readonly": f"{FOLDER.name}/data"}}}))
service = Service("--config", CONFIG)
atexit.register(service.stop)


def failures():
    return json.loads(service.mayfly("status", "--json", "--state", service.state).stdout)["failed"]


def refused(field, words, **body):
    code, answer = service.post({"code": "print(1)"} | body)
    assert (code, answer["code"], answer["field"]) == (400, "bad-field", field), answer
    for word in words:
        assert word in answer["detail"], answer


def test_a_result_names_the_folders_that_its_jail_had():
    code, answer = service.post({"code": "print(open('exercise.py').read() + open('/data/table').read())"})
    assert code == 200 and answer["stdout"] == "mine\nours\n\n", answer
    assert answer["folders"] == ["seed", "readonly"] and answer["controls"]["filesystem"] == "ephemeral", answer
    bare = subprocess.run([f"{BIN}/mayfly", "run", "--json", "--", "true"], capture_output=True, timeout=60)
    assert json.loads(bare.stdout)["folders"] == []


def test_what_does_not_go_in_with_the_seed_is_refused_with_what_to_do_and_is_no_failure_of_ours():
    before = failures()
    refused("files.part", ["python", "choose another name"], files={"part": {"content": "x"}})
    refused("files.exercise.py/below", ["choose another name"], files={"exercise.py/below": {"content": "x"}})
    refused("limits.diskBytes", ["1048576 bytes (1 MiB)", "ask for more"], limits={"diskBytes": 1 << 20})
    assert service.post({"code": "print(open('part/one').read())", "files": {"part/one": {"content": "2"}}})[1]["stdout"] == "2\n"
    assert failures() == before and "jail.failed" not in service.log_text()
    small = subprocess.run([f"{BIN}/mayfly", "run", "--config", CONFIG, "--profile", "python", "--disk", "1M", "--code", "1"],
                           capture_output=True, text=True, timeout=60)
    assert small.returncode == 125 and "ending=refused" in small.stderr and "ask for more bytes" in small.stderr, small


def test_the_examination_builds_a_jail_with_folders_and_attacks_it():
    wait_until(lambda: service.get("/api/containment")[0] == 200, 60, "the service has been examined")
    found = service.get("/api/containment")[1]
    assert found["sound"] and found["folders"] == {"python": ["seed", "readonly"]}, found
    attack = next(row for row in found["attacks"] if row["attack"] == "write-data (python)")
    assert attack["verdict"] == "held" and attack["outside"] == "works", attack


def test_doctor_says_which_profile_has_folders_that_cannot_be_shown():
    mounts, lower = [], f"{FOLDER.name}/data"
    os.mkdir(f"{FOLDER.name}/empty")
    try:
        for name in ("once", "twice"):  # the kernel stacks two overlays at most, and ours would be the third
            os.mkdir(f"{FOLDER.name}/{name}")
            subprocess.run(["mount", "-t", "overlay", "-o", f"ro,lowerdir={lower}:{FOLDER.name}/empty", "none", f"{FOLDER.name}/{name}"], check=True)
            lower = f"{FOLDER.name}/{name}"
            mounts.append(lower)
        config = put("doctor.jsonc", json.dumps({"profiles": {"deep": {"shell": ["/bin/sh"], "readonly": lower},
                                                              "well": {"shell": ["/bin/sh"], "seed": f"{FOLDER.name}/seed"}}}))
        done = subprocess.run([f"{BIN}/mayfly", "doctor", "--config", config], capture_output=True, text=True, timeout=100)
    finally:
        for mount in reversed(mounts):
            subprocess.run(["umount", mount], check=True)
    assert done.returncode == 1, done
    assert "PROBLEM: no jail of the profile deep can be built: CopyTrees failed" in done.stdout, done
    assert "well         seed in the home directory" in done.stdout and done.stdout.count("PROBLEM") == 1, done


def reload():
    done = service.mayfly("reload", "--state", service.state)
    assert done.returncode == 0, done
    return done.stdout.decode()


def test_another_directory_behind_the_same_path_takes_a_restart_and_reload_says_so():
    put("data/more", "m")
    assert "restart" not in reload()
    os.rename(f"{FOLDER.name}/data", f"{FOLDER.name}/old")
    put("data/table", "others\n")
    assert reload().rstrip().endswith("only a restart changes: profiles (seed and readonly)")
    assert service.post({"code": "print(open('/data/table').read())"})[1]["stdout"] == "ours\n\n"
    service.end()
    service.begin()
    assert "restart" not in reload()
    assert service.post({"code": "print(open('/data/table').read())"})[1]["stdout"] == "others\n\n"


if __name__ == "__main__":
    run_tests(sys.modules[__name__])
