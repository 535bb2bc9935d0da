"""The work that is timed: one turn of one subject gives the microseconds per file of each row."""

import os
import shutil
import subprocess
import time

from subjects import Failure, run

ROWS = {
    "create": "create (open, write, close)",
    "fsync": "create with fsync",
    "replace": "temporary file + rename",
    "unlink": "unlink",
    "ls first": "ls -l, first time",
    "ls again": "ls -l, again",
    "ls after": "ls, then ls -l, both for the first time",
    "read first": "read every file, first time",
    "read again": "read every file, again",
    "grep first": "grep -r, first time",
    "grep again": "grep -r, again",
    "color first": "ls --color, first time",
    "color again": "ls --color, again",
    "cp": "cp -r into the mount",
    "tar": "tar x",
    "rsync": "rsync -a into the mount",
    "git": "git add",
    "rm": "rm -rf",
}


class Driver:
    """The C program that does the work of many small calls."""

    def __init__(self, work, size):
        self.program = os.path.join(work, "driver")
        self.size = size

    def time(self, kind, directory, first, count, stride=1, generation=0):
        """Microseconds for each file."""
        words = [first, count, stride, self.size, generation]
        output = run(self.program, kind, directory, *map(str, words))
        return float(output) / count * 1e6

    def scan(self, directory, expected):
        """Microseconds for each entry of a listing with the attributes of all."""
        seconds, count = run(self.program, "scan", directory).split()
        if int(count) != expected:
            raise Failure(f"{directory} has {count} entries, expected {expected}")
        return float(seconds) / expected * 1e6

    def generate(self, path, count):
        run(self.program, "generate", path, "0", str(count), "1", str(self.size))


def tool(count, expected_status, *words):
    """Microseconds for each file of what a tool does with all of them."""
    start = time.perf_counter()
    done = subprocess.run(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        env={**os.environ, "LC_ALL": "C"})
    seconds = time.perf_counter() - start
    if done.returncode != expected_status:
        raise Failure(f"{' '.join(words)}: {done.stderr.decode(errors='replace')[:500]}")
    return seconds / count * 1e6


def best(work):
    """Of three runs that find the same caches: what else the machine does only slows them."""
    return min(work() for _ in range(3))


def turn(subject, driver, source, generation):
    """All rows of one subject, on a new file system."""
    row = {}
    count = source.count
    subject.make()
    try:
        write(subject, driver, count, generation, row)
        read(subject, driver, count, row)
        copy(subject, source, row)
    finally:
        subject.throw_away()
    return row


def write(subject, driver, count, generation, row):
    directory = subject.directory
    few = max(10, count // 20)
    row["create"] = driver.time("create", directory, 0, count)
    row["fsync"] = driver.time("fsync", directory, count, few)
    row["unlink"] = driver.time("unlink", directory, count, few)
    row["replace"] = driver.time(
        "replace", directory, 0, max(10, count // 5), generation=generation + 1)
    row["memory"] = subject.memory()


def read(subject, driver, count, row):
    directory = subject.directory
    subject.remount(count)
    row["ls first"] = tool(count, 0, "ls", "-l", directory)
    row["ls again"] = best(lambda: tool(count, 0, "ls", "-l", directory))
    subject.remount(count)
    row["ls after"] = sum(tool(count, 0, "ls", *words, directory) for words in ([], ["-l"]))
    subject.remount(count)
    row["read first"] = driver.time("read", directory, 0, count)
    row["read again"] = best(lambda: driver.time("read", directory, 0, count))
    subject.remount(count)
    row["grep first"] = tool(count, 1, "grep", "-r", "no such words", directory)
    row["grep again"] = best(lambda: tool(count, 1, "grep", "-r", "no such words", directory))
    subject.remount(count)
    row["color first"] = tool(count, 0, "ls", "--color=always", directory)
    row["color again"] = best(lambda: tool(count, 0, "ls", "--color=always", directory))
    if sum(1 for _ in os.scandir(directory)) != count:
        raise Failure(f"{subject.name}: {directory} has not {count} files")


class Source:
    """The files that tools copy into a mount: a directory on the disk and an archive of it."""

    def __init__(self, driver, folder, count):
        self.directory = os.path.join(folder, "source")
        self.archive = self.directory + ".tar"
        self.count = count
        shutil.rmtree(self.directory, ignore_errors=True)
        os.makedirs(self.directory)
        driver.time("create", self.directory, 0, count)
        run("tar", "cf", self.archive, "-C", self.directory, ".")


def copy(subject, source, row):
    """Tools that bring many files in, and that take them away."""
    def made(name):
        path = os.path.join(os.path.dirname(subject.directory), name)
        os.mkdir(path)
        return path

    def time(key, *words):
        try:
            row[key] = tool(source.count, 0, *words)
        except Failure:
            # A mount that a tool does not work on has no time for it; ours has to work.
            if not subject.may_fail:
                raise
            row[key] = None

    copies, unpacked, synced = made("Copies"), made("Unpacked"), made("Synced")
    time("cp", "cp", "-r", source.directory + "/.", copies)
    time("tar", "tar", "xf", source.archive, "-C", unpacked)
    time("rsync", "rsync", "-a", source.directory + "/", synced + "/")
    row["git"] = None
    time("git", "git", "init", "-q", copies)
    if row["git"] is not None:
        time("git", "git", "-C", copies, "add", "-A")
    time("rm", "rm", "-rf", unpacked)


def large_turn(subject, driver, count, folder):
    """Listing and reading a directory of many files that are there already."""
    row = {}
    subject.make()
    try:
        if hasattr(subject, "import_records"):
            source = os.path.join(folder, "records.ndjson")
            driver.generate(source, count)
            subject.unmount()
            start = time.perf_counter()
            subject.import_records(source)
            row["import"] = (time.perf_counter() - start) / count * 1e6
            os.unlink(source)
            subject.mount(count)
        sample = min(count, 10_000)
        subject.remount(count)
        row["scan first"] = driver.scan(subject.directory, count)
        row["scan again"] = driver.scan(subject.directory, count)
        subject.remount(count)
        row["read first"] = driver.time("read", subject.directory, 0, sample, count // sample)
        row["read again"] = driver.time("read", subject.directory, 0, sample, count // sample)
        row["scan after"] = driver.scan(subject.directory, count)
        row["memory"] = subject.memory()
    finally:
        subject.throw_away()
    return row
