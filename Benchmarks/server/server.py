"""A recordfs-server of our own for the time of a run."""

import os
import socket
import subprocess
import time

from client import CONTAINER, Client

PASSWORD = "a long enough pass phrase"
CALLBACK = "http://127.0.0.1:9/callback"


class Server:
    def __init__(self, program, directory):
        self.program, self.directory = program, directory
        self.data = os.path.join(directory, "data")
        self.process = None
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]

    def command(self, *arguments, text=None):
        return subprocess.run([self.program, *arguments, "--data", self.data], input=text,
                              text=True, check=True, capture_output=True).stdout

    def start(self, *settings):
        log = open(os.path.join(self.directory, "server.log"), "a")
        self.process = subprocess.Popen(
            [self.program, "serve", "--data", self.data, "--listen", f"127.0.0.1:{self.port}",
             "--container", CONTAINER, "--set", "log-level=warning", "--set", "user-rate=0",
             "--set", "address-rate=0", "--set", "zones=20000", *settings],
            stdout=log, stderr=log)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                break
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.05)
        raise RuntimeError(f"the server does not answer; see {log.name}")

    def client(self, email="bench@example.org"):
        """A user, made now, signed in."""
        self.command("user", "add", email, "--name", "Bench", "--password-stdin",
                     text=PASSWORD + "\n")
        token = self.command("token", "create", CONTAINER, "--name", "bench",
                             "--callback", CALLBACK).split()[0]
        client = Client("127.0.0.1", self.port, token)
        client.sign_in(email, PASSWORD)
        return client

    def memory(self):
        """Resident bytes now, and the highest so far."""
        with open(f"/proc/{self.process.pid}/status") as file:
            values = dict(line.split(":", 1) for line in file)
        return tuple(int(values[key].split()[0]) * 1024 for key in ("VmRSS", "VmHWM"))

    def forget_highest(self):
        """The highest so far is what there is now."""
        with open(f"/proc/{self.process.pid}/clear_refs", "w") as file:
            file.write("5")

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
