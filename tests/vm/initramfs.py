"""Packs the programs that the virtual machine needs, with their libraries, into an initial ramfs."""
import os
import re
import shutil
import subprocess

# Packages whose programs tests and jails call, and single programs beside them.
PACKAGES = ("coreutils", "dash", "bash", "util-linux", "mount", "sed", "grep", "findutils", "procps", "iproute2",
            "python3.11-minimal", "libc-bin", "debianutils", "hostname", "login", "passwd")
PYTHON = "/usr/lib/python3.11"
PYTHON_LEFT_OUT = ("test", "idlelib", "tkinter", "lib2to3", "ensurepip", "distutils", "turtledemo", "pydoc_data",
                   "__pycache__", "dist-packages", "turtle.py")
ETC = {
    "passwd": "root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000::/home/user:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n",
    "group": "root:x:0:\ntty:x:5:\nuser:x:1000:\nnogroup:x:65534:\n",
    "hosts": "127.0.0.1 localhost\n::1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}


def usr(path):
    """The path with /bin, /sbin and /lib resolved into /usr, as a merged system has them."""
    return re.sub(r"^/(bin|sbin|lib|lib64)(/|$)", r"/usr/\1\2", path)


class Initramfs:
    def __init__(self, folder):
        self.folder = folder
        self.seen = set()
        shutil.rmtree(folder, ignore_errors=True)
        for name in ("usr/bin", "usr/sbin", "usr/lib", "usr/lib64", "etc", "root", "newroot", "proc", "sys", "dev",
                     "tmp", "var/tmp"):
            os.makedirs(os.path.join(folder, name))
        for name in ("bin", "sbin", "lib", "lib64"):
            os.symlink("usr/" + name, os.path.join(folder, name))
        os.chmod(os.path.join(folder, "tmp"), 0o1777)
        for name, text in ETC.items():
            self.text("/etc/" + name, text)

    def inside(self, path):
        return os.path.join(self.folder, usr(path).lstrip("/"))

    def text(self, path, text, mode=0o644):
        with open(self.inside(path), "w", encoding="utf-8") as out:
            out.write(text)
        os.chmod(self.inside(path), mode)

    def file(self, path, strip=False):
        """One file or link under the same name; a program or library brings the libraries that it loads."""
        path = usr(path)
        if path in self.seen or not os.path.lexists(path) or (os.path.isdir(path) and not os.path.islink(path)):
            return
        self.seen.add(path)
        os.makedirs(os.path.dirname(self.inside(path)), mode=0o755, exist_ok=True)
        if os.path.islink(path):
            target = os.readlink(path)
            os.symlink(target, self.inside(path))
            self.file(os.path.normpath(os.path.join(os.path.dirname(path), target)))
            return
        shutil.copy(path, self.inside(path))
        os.chmod(self.inside(path), os.stat(path).st_mode & 0o755)
        if strip and is_elf(path):
            subprocess.run(["strip", "--strip-debug", self.inside(path)], check=True)
        if os.access(path, os.X_OK) or ".so" in os.path.basename(path):
            for library in libraries(path):
                self.file(library)

    def tree(self, path, left_out=()):
        for folder, names, files in os.walk(path):
            names[:] = [n for n in names if n not in left_out]
            for name in files + [n for n in names if os.path.islink(os.path.join(folder, n))]:
                if name not in left_out:
                    self.file(os.path.join(folder, name))

    def system(self):
        for package in PACKAGES:
            listing = subprocess.run(["dpkg", "-L", package], capture_output=True, text=True, check=False).stdout
            for path in listing.splitlines():
                if re.match(r"^(/usr)?/s?bin/", path):
                    self.file(path)
        for path in ("/usr/bin/python3", "/bin/sh", "/etc/ld.so.cache"):
            self.file(path)
        for libc_part in ("libnss_files.so.2", "libgcc_s.so.1"):
            self.file("/usr/lib/x86_64-linux-gnu/" + libc_part)
        self.tree(PYTHON, PYTHON_LEFT_OUT)
        self.tree("/usr/lib/locale/C.utf8")
        os.makedirs(self.inside("/usr/share/doc"), exist_ok=True)  # a folder that tests hide

    def pack(self, path):
        with open(path + ".part", "wb") as out:
            find = subprocess.Popen(["find", ".", "-print0"], cwd=self.folder, stdout=subprocess.PIPE)
            cpio = subprocess.Popen(["cpio", "--quiet", "-0", "-o", "-H", "newc", "-R", "0:0"], cwd=self.folder,
                                    stdin=find.stdout, stdout=subprocess.PIPE)
            gzip = subprocess.run(["gzip", "-1"], stdin=cpio.stdout, stdout=out, check=True)
        if find.wait() or cpio.wait() or gzip.returncode:
            raise RuntimeError("packing the initial ramfs failed")
        os.replace(path + ".part", path)


def is_elf(path):
    with open(path, "rb") as program:
        return program.read(4) == b"\x7fELF"


def libraries(path):
    """What the dynamic loader would load for it; nothing for scripts and static programs."""
    if not is_elf(path):
        return []
    # What ldd does, without its shell script: three hundred of them take a while.
    lines = subprocess.run(["/lib64/ld-linux-x86-64.so.2", "--list", path], capture_output=True, text=True, check=False).stdout.splitlines()
    return [m.group(1) for m in (re.search(r"(/\S+) \(0x", line) for line in lines) if m]
