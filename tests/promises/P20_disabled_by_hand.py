#!/usr/bin/env python3
"""P20: `controls` is measured. Whatever the builder leaves out, the engine finds on the jail, and says which control it is."""
import json
import os
import shutil

from mayfly import BIN, Promise, main

# What is left out, and the control that is found wrong. A jail that is not as it was asked for does not run.
FOUND = {"landlock": "files", "filter": "syscalls", "caps": "privileges", "environment": "environment", "limits": "processes", "root-size": "filesystem", "root-inodes": "filesystem",
         "read-only": "filesystem", "masks": "proc"}
AS_ROOT = {"ids": "identity", "network": "network"}
FAILED, NOT_RUN = 125, b""


def network_settings():
    """What a jail's network is set to hold (jail/builder/outside/network_parts.cpp), here."""
    return [open(f"/proc/sys/net/{name}", encoding="utf-8").read() for name in ("core/somaxconn", "ipv4/tcp_rmem", "ipv4/tcp_wmem")]


class DisabledByHand(Promise):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = os.path.dirname(cls.root.program)
        shutil.copy(os.path.join(BIN, "mayfly-builder-faulty"), cls.folder)

    def weaken(self, layer):
        """From now on the builder leaves this out."""
        path = os.path.join(self.folder, "mayfly-builder")
        with open(path + ".new", "w", encoding="utf-8") as script:
            script.write(f'#!/bin/sh\nexec "{self.folder}/mayfly-builder-faulty" weaken:{layer}\n')
        os.chmod(path + ".new", 0o755)
        os.replace(path + ".new", path)

    def weaken_nothing(self):
        shutil.copy(os.path.join(BIN, "mayfly-builder"), self.folder + "/mayfly-builder.new")
        os.replace(self.folder + "/mayfly-builder.new", self.folder + "/mayfly-builder")

    def check_found(self, who, layer, control, *options):
        self.weaken(layer)
        done = who.run(["echo", "it ran"], *options)
        self.assertEqual((done.returncode, done.stdout), (FAILED, NOT_RUN), f"{layer}: {done.stderr.decode()}")
        self.assertIn(f'measure control {control}:'.encode(), done.stderr, layer)

    def test_what_was_asked_for_and_is_not_there_means_no_jail(self):
        for who in self.everybody():
            for layer, control in FOUND.items():
                self.check_found(who, layer, control)
        settings = network_settings()
        for layer, control in AS_ROOT.items():
            self.check_found(self.root, layer, control)
        self.assertEqual(network_settings(), settings)  # of the host: the weakened builder is in its network

    def test_a_folder_without_its_overlay_or_a_seed_that_is_not_there_means_no_jail(self):
        top = os.path.dirname(self.folder)  # what lies beside our programs is not shown to jails
        data, config = os.path.join(top, "data"), os.path.join(top, "with-folder.jsonc")
        os.makedirs(data)
        with open(config, "w", encoding="utf-8") as text:
            json.dump({"profiles": {"class": {"shell": ["/bin/sh"], "readonly": data, "seed": data}}}, text)
        options = ("--config", config, "--profile", "class")
        for who in self.everybody():
            self.weaken_nothing()
            self.assertEqual(who.run(["ls", "-d", "/data"], *options).stdout, b"/data\n")
            for layer in ("overlay", "seed"):
                self.check_found(who, layer, "filesystem", *options)

    def test_without_no_new_privs_there_is_no_jail(self):
        self.weaken("nnp")
        for who in self.everybody():
            done = who.run(["echo", "it ran"])
            self.assertEqual((done.returncode, done.stdout), (FAILED, NOT_RUN))
            # With Landlock the kernel does not let it come to measuring (landlock_restrict_self(2)).
            self.assertTrue(b"Landlock failed" in done.stderr or b"measure control privileges:" in done.stderr, done.stderr)

    def test_a_jail_outside_one_of_its_groups_does_not_run(self):
        kinds = set(self.unweakened_controls().values())
        if not kinds & {"cgroup-v1", "cgroup-v2"}:
            return  # nothing is left out where there is nothing
        self.check_found(self.root, "pids", "memory")  # none of them
        if "cgroup-v2" in kinds:
            return  # there is one group alone
        found = set()
        for number in range(4):
            self.weaken(f"group{number}")
            done = self.root.run(["echo", "it ran"])
            if done.stdout:  # this host has its controllers in fewer hierarchies
                self.assertGreater(number, 0)
                continue
            self.assertEqual(done.returncode, FAILED)
            found |= {name for name in ("memory", "cpu", "processes") if f"measure control {name}:".encode() in done.stderr}
        self.assertEqual(found, {"memory", "cpu", "processes"})

    def unweakened_controls(self):
        self.weaken_nothing()
        return self.root.result(["true"])["controls"]

    def test_what_is_absent_and_not_required_is_reported_absent_and_required_there_is_no_jail(self):
        for who in self.everybody():
            self.unweakened_controls()
            self.assertEqual(who.result(["true"])["controls"]["proc"], "private")
            self.weaken("proc")
            self.assertEqual(who.result(["true"])["controls"]["proc"], "absent")
            done = who.run(["echo", "it ran"], "--require", "proc")
            self.assertEqual((done.returncode, done.stdout), (FAILED, NOT_RUN))
            self.assertIn(b"proc", done.stderr)


main()
