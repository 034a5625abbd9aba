"""Where the service is that the clients talk to, and what they need to know it: its host key, in each one's form."""
import base64
import os
import subprocess
import tempfile

from harness import ends_with_us


class Place:
    def __init__(self, port, key_line):
        self.port = port
        self.key_line = " ".join(key_line.split()[:2])
        self.key = base64.b64decode(self.key_line.split()[1])
        # For the programs that keep notes in the home directory, and for our own files.
        self._folder = tempfile.TemporaryDirectory(prefix="mayfly-clients-")
        self.home = self._folder.name
        os.mkdir(f"{self.home}/.ssh", 0o700)
        self.known_hosts = self._known_hosts("known_hosts", f"[127.0.0.1]:{port}")
        self._known_hosts(".ssh/known_hosts", "127.0.0.1")  # dbclient's, which knows no ports
        said = subprocess.run(["ssh-keygen", "-lf", "-"], input=self.key_line.encode(), capture_output=True, check=True)
        self.fingerprint = said.stdout.split()[1].decode()
        # An agent without keys: clients ask for forwarding only when there is one.
        self.agent_socket = f"{self.home}/agent"
        self._agent = subprocess.Popen(["ssh-agent", "-D", "-a", self.agent_socket], stdout=subprocess.DEVNULL,
                                       preexec_fn=ends_with_us)
        self.environment = {"PATH": os.environ["PATH"], "HOME": self.home, "TERM": "xterm", "LANG": "C.UTF-8",
                            "DISPLAY": ":9", "SSH_AUTH_SOCK": self.agent_socket}

    def _known_hosts(self, name, host):
        path = f"{self.home}/{name}"
        with open(path, "w", encoding="ascii") as file:
            file.write(f"{host} {self.key_line}\n")
        return path

    def close(self):
        self._agent.terminate()
        self._agent.wait()
        self._folder.cleanup()
