"""A record server and machines of one account, each on a small disk of its own, in a network of their
own: what can break is a process, a disk or a connection."""

import errno
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

import model
from client import CONTAINER, Client
from server import CALLBACK, PASSWORD, Server
from subjects import Failure, is_mounted, run, wait_until

E_MAIL = "chaos@example.org"
DISK_MEGABYTES = 1_500


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def raise_loopback():
    """In a new network namespace loopback is down."""
    import fcntl
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        request = struct.pack("16sh", b"lo", 0x1 | 0x40)  # IFF_UP, IFF_RUNNING
        fcntl.ioctl(handle, 0x8914, request)  # SIOCSIFFLAGS


class Disk:
    """A small ext4 in a file, for what has to run out of space."""

    def __init__(self, directory):
        self.directory = directory
        self.image = directory + ".image"
        self.filler = os.path.join(directory, "filler")

    def make(self):
        os.makedirs(self.directory)
        run("truncate", "-s", f"{DISK_MEGABYTES}M", self.image)
        run("mkfs.ext4", "-q", "-m", "0", self.image)
        run("mount", "-o", "loop", self.image, self.directory)

    def fill(self):
        """Not a byte is left."""
        with open(self.filler, "wb") as file:
            size = 1 << 28
            while size >= 4_096:
                try:
                    os.posix_fallocate(file.fileno(), os.fstat(file.fileno()).st_size, size)
                except OSError as error:
                    if error.errno != errno.ENOSPC:
                        raise
                    size //= 2

    def free(self):
        try:
            os.unlink(self.filler)
        except FileNotFoundError:
            pass

    def unmount(self):
        if is_mounted(self.directory):
            run("umount", self.directory)


class Machine:
    """A mount with a store of its own, signed in to the server."""

    program = ""

    def __init__(self, name, home, url):
        self.name, self.url = name, url
        self.disk = Disk(os.path.join(home, name + "-disk"))
        self.state = os.path.join(self.disk.directory, "state")
        self.mountpoint = os.path.join(home, name)
        os.makedirs(self.mountpoint)
        self.disk.make()

    def command(self, *words, timeout=120):
        return subprocess.run(
            [self.program, *words, "--state", self.state], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout)

    def mount(self):
        done = subprocess.run(
            [self.program, "mount", "--state", self.state, self.mountpoint],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=120)
        if done.returncode != 0:
            raise Failure(f"mount of {self.name}: {done.stdout.strip()}")

    def unmount(self):
        if is_mounted(self.mountpoint):
            run(self.program, "unmount", self.mountpoint)

    def sign_in(self, token):
        run(
            "/bin/sh", "-c", 'printf "%s\\n" "$0" | "$@"', PASSWORD, self.program, "login",
            self.url, "--state", self.state, "--container", CONTAINER, "--user", E_MAIL,
            "--password-stdin", env={**os.environ, "RECORDFS_API_TOKEN": token})

    def kill(self):
        for number in self.processes():
            try:
                os.kill(number, signal.SIGKILL)
            except ProcessLookupError:
                pass
        wait_until(f"the daemon of {self.name} to be gone", lambda: not self.processes())

    def processes(self):
        """Those that serve the mount. What only asks the daemon, as a command does, is none."""
        found = []
        for number in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{number}/cmdline", "rb") as file:
                    words = file.read().split(b"\0")
            except OSError:
                continue
            if os.fsencode(self.state) in words and b"mount" in words[1:2]:
                found.append(int(number))
        return found

    def tree(self):
        return os.path.join(self.mountpoint, "private")


class Network:
    """The proxy between machines and server, and what loses packets."""

    def __init__(self, port, server_port, seed):
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "proxy.py")
        self.process = subprocess.Popen(
            [sys.executable, path, str(port), str(server_port), str(seed)], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        self.wait()

    def wait(self):
        if self.process.stdout.readline() != "ok\n":
            raise Failure("the proxy has ended")

    def set(self, mode):
        self.process.stdin.write(mode + "\n")
        self.process.stdin.flush()
        self.wait()

    def lose(self):
        """Each fifth packet."""
        run("nft", "add table inet chaos")
        run("nft", "add chain inet chaos input { type filter hook input priority 0 ; }")
        run("nft", "add rule inet chaos input numgen random mod 5 == 0 drop")

    def keep(self):
        run("nft", "delete table inet chaos")

    def end(self):
        self.process.stdin.close()
        self.process.wait(30)


class World:
    def __init__(self, home, programs, seed, names="ab"):
        Machine.program, server_program = programs
        self.home = home
        self.is_over = threading.Event()
        self.violations = []
        self.model = model.Model()
        self.counters = model.Counters()
        self.begin = time.monotonic()
        self.server_disk = Disk(os.path.join(home, "server-disk"))
        self.server_disk.make()
        self.server = Server(server_program, self.server_disk.directory)
        self.server.start()
        self.client = self.server.client(E_MAIL)
        self.token = self.server.command(
            "token", "create", CONTAINER, "--name", "chaos", "--callback", "http://127.0.0.1"
        ).split()[0]
        port = free_port()
        self.network = Network(port, self.server.port, seed)
        self.url = f"http://127.0.0.1:{port}"
        self.machines = {}
        for name in names:
            self.add(name)

    def add(self, name):
        machine = self.machines[name] = Machine(name, self.home, self.url)
        machine.mount()
        machine.sign_in(self.token)
        return machine

    def sign_in(self):
        """A client with a session of its own: one that pauses may not share it with one that does
        not, for a token is good for two minutes after its successor."""
        client = Client("127.0.0.1", self.server.port, self.client.api_token)
        client.sign_in(E_MAIL, PASSWORD)
        return client

    def say(self, text):
        print(f"{time.monotonic() - self.begin:7.1f} {text}", flush=True)

    def violation(self, text):
        """Something that must never be."""
        self.violations.append(text)
        self.say(f"VIOLATION {text}")

    def end(self):
        self.network.end()
        self.server.stop()
        for machine in self.machines.values():
            machine.unmount()
            machine.disk.unmount()
        self.server_disk.unmount()
