"""How many requests the kernel sends to a file system for each file of some work.

Counted by strace on the daemon's reads of /dev/fuse, so that every file system is counted in the same
way, and the count has no noise: a goal that is missed here is missed on every machine.
"""

import collections
import os
import re
import subprocess

from subjects import Failure, run

# enum fuse_opcode of <linux/fuse.h>.
NAMES = {
    1: "LOOKUP", 2: "FORGET", 3: "GETATTR", 4: "SETATTR", 5: "READLINK", 6: "SYMLINK", 8: "MKNOD",
    9: "MKDIR", 10: "UNLINK", 11: "RMDIR", 12: "RENAME", 13: "LINK", 14: "OPEN", 15: "READ",
    16: "WRITE", 17: "STATFS", 18: "RELEASE", 20: "FSYNC", 21: "SETXATTR", 22: "GETXATTR",
    23: "LISTXATTR", 24: "REMOVEXATTR", 25: "FLUSH", 26: "INIT", 27: "OPENDIR", 28: "READDIR",
    29: "RELEASEDIR", 30: "FSYNCDIR", 31: "GETLK", 32: "SETLK", 33: "SETLKW", 34: "ACCESS",
    35: "CREATE", 36: "INTERRUPT", 37: "BMAP", 38: "DESTROY", 39: "IOCTL", 40: "POLL",
    41: "NOTIFY_REPLY", 42: "BATCH_FORGET", 43: "FALLOCATE", 44: "READDIRPLUS", 45: "RENAME2",
    46: "LSEEK", 47: "COPY_FILE_RANGE", 50: "SYNCFS", 51: "TMPFILE", 52: "STATX",
}
# Nobody waits for these, and when they come is the kernel's affair. STATFS is the mark between two
# pieces of work.
UNCOUNTED = {"FORGET", "BATCH_FORGET", "INTERRUPT", "NOTIFY_REPLY", "INIT", "DESTROY", "STATFS"}

ROWS = {
    "ls after": "ls, then ls -l, for the first time",
    "find": "find -size, first time",
    "ls": "ls -l, again",
    "color": "ls --color, again",
    "read": "open, read, close of kept text",
    "grep": "grep -r, again",
    "redirect": "echo > f in a shell",
    "cp": "cp -r into the mount",
    "cp files": "cp FILES DIR into the mount",
    "tar": "tar x",
    "rsync": "rsync -a into the mount",
    "sed": "sed -i",
    "mv": "mv to a new name",
    "git": "git add",
    "rm": "rm -rf",
}
# The most requests for each file; what a directory costs once is allowed for. No file system can be
# asked less for cp FILES DIR: an exclusive create looks its name up again although the kernel knows
# that it is free, and cp asks for the size of what it has just written.
GOALS = {
    "ls after": 0, "find": 0, "ls": 0, "color": 0, "read": 2, "redirect": 6, "cp": 6, "cp files": 7,
    "tar": 8, "rsync": 13, "sed": 13, "mv": 2, "rm": 1,
}
ONCE = 0.25


def tracer(log):
    """The words that start a daemon under strace."""
    return ["strace", "-f", "-qq", "-xx", "-s", "16", "-e", "trace=read,readv", "-e",
            "signal=none", "-P", "/dev/fuse", "-o", log]


# A request begins with its length and its operation, each of 32 bits.
REQUEST = re.compile(r'readv?\(.*?"(?:\\x..){4}\\x(..)\\x(..)\\x(..)\\x(..)|resumed>.*?"'
                     r'(?:\\x..){4}\\x(..)\\x(..)\\x(..)\\x(..)')


def operations(text):
    """The requests that strace has seen, by name, uncounted ones too."""
    for line in text.splitlines():
        found = REQUEST.search(line)
        if found:
            digits = [digit for digit in found.groups() if digit]
            number = int("".join(reversed(digits)), 16)
            yield NAMES.get(number, str(number))


class Counter:
    """Counts what one mounted subject is asked."""

    def __init__(self, subject, log):
        self.subject = subject
        self.log = log

    def mark(self):
        """Everything that was asked before is in the log when this returns."""
        os.statvfs(self.subject.mountpoint)
        os.statvfs(self.subject.mountpoint)
        return os.path.getsize(self.log)

    def count(self, files, *words):
        """Requests by name for each file of what the words do."""
        start = self.mark()
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={**os.environ, "LC_ALL": "C", "GIT_CONFIG_GLOBAL": os.devnull}, timeout=300)
        if done.returncode > 1 or (done.returncode and words[0] != "grep"):
            if self.subject.may_fail:
                return None
            output = done.stdout.decode(errors="replace")[:500]
            raise Failure(f"{self.subject.name}: {' '.join(words)[:80]}: {output}")
        end = self.mark()
        with open(self.log) as file:
            file.seek(start)
            seen = collections.Counter(operations(file.read(end - start)))
        return {name: number / files for name, number in seen.most_common()
                if name not in UNCOUNTED}


def measure(subject, source, folder):
    """The rows of one subject, each as requests by name for each file."""
    log = os.path.join(folder, f"{subject.name}.strace")
    subject.tracer = tracer(log)
    subject.make()
    try:
        return work(subject, Counter(subject, log), source)
    finally:
        subject.throw_away()
        subject.tracer = []


def work(subject, counter, source):
    files = source.count

    def directory(name):
        path = os.path.join(os.path.dirname(subject.directory), name)
        os.mkdir(path)
        return path

    def shell(text, *words):
        return counter.count(files, "bash", "-c", text, "bash", *words)

    row = {}
    main = subject.directory
    row["redirect"] = shell(
        'cd "$1"; for ((i = 0; i < $2; i++)); do echo "{}" > f-$i.json; done', main, str(files))
    row["mv"] = shell('cd "$1"; for f in *.json; do mv $f m-$f; done', main)
    run("ls", "-l", main)
    row["ls"] = counter.count(files, "ls", "-l", main)
    row["color"] = counter.count(files, "ls", "--color=always", main)
    copies = directory("Copies")
    row["cp"] = counter.count(files, "cp", "-r", source.directory + "/.", copies)
    files_of_source = [entry.path for entry in os.scandir(source.directory)]
    row["cp files"] = counter.count(files, "cp", *files_of_source, directory("Copied"))
    paths = [entry.path for entry in os.scandir(copies)]
    for _ in range(2):
        # Reading changes the time of access, about which the kernel asks once at the next read.
        run("cat", *paths)
    row["read"] = counter.count(files, "cat", *paths)
    run("bash", "-c", 'grep -r "no such words" "$1" || true', "bash", copies)
    row["grep"] = counter.count(files, "grep", "-r", "no such words", copies)
    row["sed"] = shell('cd "$1"; sed -i "s/Note/Text/" *.json', copies)
    row["tar"] = counter.count(files, "tar", "xf", source.archive, "-C", directory("Unpacked"))
    synced = directory("Synced")
    row["rsync"] = counter.count(files, "rsync", "-a", source.directory + "/", synced + "/")
    run("git", "init", "-q", copies)
    row["git"] = counter.count(files, "git", "-C", copies, "add", "-A")
    row["rm"] = counter.count(files, "rm", "-rf", os.path.dirname(copies) + "/Unpacked")
    # Last, for a new mount of the floor is empty but for this directory.
    for key, words in (("find", ("find", main, "-size", "+1000k")),
                       ("ls after", ("bash", "-c", 'ls "$1"; ls -l "$1"', "bash", main))):
        subject.remount(files)
        row[key] = counter.count(files, *words)
    return {key: row[key] for key in ROWS}


def total(breakdown):
    """All operations together; None when the work was not possible."""
    return None if breakdown is None else sum(breakdown.values())


def goals(found, name):
    """(what, value, limit) of the goals for requests."""
    return [(f"{ROWS[row]}: requests for each file", total(found[name][row]), limit + ONCE)
            for row, limit in GOALS.items()]
