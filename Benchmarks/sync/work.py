"""The work that is timed, the same for all pairs."""

import os
import selectors
import statistics
import subprocess
import time

import wire
from subjects import Failure, run

SIZE = 300
NAME = "note-%07u.json"
# A pair that takes longer than this for a row has failed.
PATIENCE = 900


class Source:
    """The files that are copied in, and the program that makes many."""

    def __init__(self, options):
        self.driver = os.path.join(options.work, "driver")
        self.directory = os.path.join(options.run, "source")
        os.makedirs(self.directory)
        self.make(self.directory, options.copied)

    def make(self, directory, count):
        run(self.driver, "create", directory, "0", str(count), "1", str(SIZE))


def turn(pair, source, options):
    """All rows of one pair, on two new sides."""
    row = {}
    pair.make()
    try:
        first_download(pair, source, options, row)
        row["save, many records"] = saves(pair, "Many", options)
        copy(pair, source, options, row)
        few = pair.directory("a", "Few")
        source.make(few, 1)
        pair.step()
        wait_for_files(pair, "Few", 1)
        row["save, few records"] = saves(pair, "Few", options)
        row["bytes of a save"] = traffic(pair, "Few", options)
        if hasattr(pair, "wire"):
            row.update(wire.measure(pair, options))
        row["memory"] = pair.memory()
    finally:
        pair.end()
    # Removing the files makes ext4 slow for a while: they stay until the run ends.
    return row


def first_download(pair, source, options, row):
    directory = pair.directory("a", "Many")
    count = min(options.records, pair.records_max or options.records)
    source.make(directory, count)
    start = time.monotonic()
    pair.settle()
    row["settle"] = time.monotonic() - start
    start = time.monotonic()
    pair.join()
    wait_for_files(pair, "Many", count)
    seconds = time.monotonic() - start
    row["files"] = count
    row["first download"] = count / seconds
    compare(directory, pair.directory("b", "Many"))


def copy(pair, source, options, row):
    """`cp -r` at one side, until the other has all of it."""
    target = pair.directory("a", "Copied")
    start = time.monotonic()
    run("cp", "-r", source.directory + "/.", target)
    end = time.monotonic()
    row["copy"] = end - start
    pair.step()
    wait_for_files(pair, "Copied", options.copied)
    row["copy arrives"] = time.monotonic() - end
    compare(target, pair.directory("b", "Copied"))
    if hasattr(pair, "local_directory"):
        target = pair.local_directory("Copied")
        start = time.monotonic()
        run("cp", "-r", source.directory + "/.", target)
        row["copy, local"] = time.monotonic() - start


def wait_for_files(pair, name, count):
    """Until side `b` has so many files. Looks seldom enough, and lists only what may be complete: looking
    is no work."""
    directory = pair.directory("b", name)
    start = time.monotonic()
    while True:
        found = 0
        if pair.may_have(name, count):
            try:
                with os.scandir(directory) as entries:
                    found = sum(entry.name.endswith(".json") for entry in entries)
            except FileNotFoundError:
                pass
        if found == count:
            return
        elapsed = time.monotonic() - start
        if elapsed > PATIENCE:
            raise Failure(f"{directory} has {found} of {count} files after {PATIENCE} s")
        time.sleep(min(max(0.02, elapsed / 25), 1))


def compare(a, b):
    done = subprocess.run(["diff", "-rq", a, b], capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure(f"the sides differ: {(done.stdout + done.stderr)[:500]}")


class Watch:
    """Tells when a file of a directory has changed, as inotify tells it."""

    def __init__(self, directory):
        words = ["inotifywait", "-q", "-m", "--format", "%f"]
        for event in ("close_write", "moved_to", "create", "modify", "attrib"):
            words += ["-e", event]
        self.process = subprocess.Popen(
            [*words, directory], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)
        os.set_blocking(self.process.stdout.fileno(), False)
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.process.stdout, selectors.EVENT_READ)

    def wait(self, seconds):
        """Something was told, or the time is over."""
        if self.selector.select(seconds):
            self.process.stdout.read()

    def end(self):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()


def content(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


def saves(pair, name, options):
    """Seconds from a save's close until inotify has told the other side and the file there is new:
    median, and the slowest of a hundred."""
    count = min(options.saves, pair.saves_max or options.saves)
    times = []
    a, b = pair.directory("a", name), pair.directory("b", name)
    watch = Watch(b)
    try:
        # Until the watch stands, nothing is told.
        time.sleep(1)
        for number in range(-1, count):
            text = b'{"title": "save %d", "text": "%s"}\n' % (number, b"x" * 200)
            with open(os.path.join(a, NAME % 0), "wb") as file:
                file.write(text)
            start = time.monotonic()
            pair.step()
            while content(os.path.join(b, NAME % 0)) != text:
                if time.monotonic() - start > PATIENCE:
                    raise Failure(f"a save has not arrived in {b} after {PATIENCE} s")
                watch.wait(1)
            # The first finds what is idle asleep.
            if number >= 0:
                times.append(time.monotonic() - start)
            time.sleep(0.3)
    finally:
        watch.end()
    times.sort()
    return {"median": statistics.median(times), "p99": times[max(0, len(times) * 99 // 100 - 1)]
            if len(times) >= 100 else times[-1]}


def traffic(pair, name, options):
    """Bytes over loopback for each save, with all headers; of a command between two folders none."""
    if not pair.is_live:
        return None
    count = min(options.saves, pair.saves_max or options.saves)
    before = loopback()
    saves(pair, name, options)
    return (loopback() - before) / (count + 1)


def loopback():
    with open("/sys/class/net/lo/statistics/rx_bytes") as file:
        return int(file.read())
