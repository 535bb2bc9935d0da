"""What others wait while calls wait for a server that takes connections and answers nothing."""

import os
import signal
import statistics
import subprocess
import time

from figures import goal
from pairs import RecordFS
from subjects import Failure, wait_until

TEXT = '{"participants": []}\n'
ROUNDS = 200
# Milliseconds that 99 of 100 calls of others may take.
LIMIT = 50


def measure(options, work, folder):
    side = Side(work, folder)
    try:
        side.make(options.waiting)
        rounds = 20 if options.quick else ROUNDS
        quiet = side.calls(rounds)
        side.suspend(options.waiting)
        try:
            busy = side.calls(rounds)
            if any(child.poll() is not None for child in side.waiting):
                raise Failure("the calls did not wait for the server")
        finally:
            side.resume()
        return {"waiting": options.waiting, "rounds": rounds, "none": quiet, "all": busy}
    finally:
        side.end()


class Side(RecordFS):
    """One machine, in each of whose zones a call can wait."""

    def make(self, count):
        self.home = self.new_folder()
        self.waiting = []
        self.start_server()
        self.mount("a")
        self.sign_in("a")
        for number in range(count):
            os.makedirs(self.zone(f"Z{number}"))
        self.others = os.path.join(self.zone("Other"), "Note")
        os.makedirs(self.others)
        self.save(0)
        self.settle()

    def zone(self, name):
        return os.path.join(self.mountpoint("a"), "private", name)

    def suspend(self, count):
        os.kill(self.server.process.pid, signal.SIGSTOP)
        text = os.path.join(self.home, "text")
        with open(text, "w") as file:
            file.write(TEXT)
        self.waiting = [
            subprocess.Popen(["cp", text, os.path.join(self.zone(f"Z{number}"), ".share.json")])
            for number in range(count)]
        wait_until("the calls to wait", lambda: all(map(in_close, self.waiting)))

    def resume(self):
        os.kill(self.server.process.pid, signal.SIGCONT)
        for child in self.waiting:
            child.wait()

    def save(self, number):
        with open(os.path.join(self.others, "o.json"), "w") as file:
            file.write(f'{{"n": {number}}}\n')

    def read(self, number):
        with open(os.path.join(self.others, "o.json")) as file:
            file.read()

    def calls(self, rounds):
        """Milliseconds of each call, by its name."""
        kinds = {
            "ls": lambda number: os.listdir(self.others), "save": self.save, "cat": self.read,
            "df": lambda number: os.statvfs(self.mountpoint("a"))}
        found = {name: [] for name in kinds}
        for number in range(rounds):
            for name, call in kinds.items():
                start = time.monotonic()
                call(number)
                found[name].append((time.monotonic() - start) * 1000)
        return found


def in_close(child):
    """Whether a process stands in close(2), number 3 of x86_64 and 57 of arm64."""
    with open(f"/proc/{child.pid}/syscall") as file:
        return file.read().split()[0] in ("3", "57")


def percentile(times, part):
    return statistics.quantiles(times, n=100, method="inclusive")[part - 1]


def lines(row):
    yield f"Milliseconds of {row['rounds']} calls each, none and {row['waiting']} waiting for the server:"
    yield "| call | none, p50 | p99 | waiting, p50 | p99 | most |"
    yield "|---|---:|---:|---:|---:|---:|"
    for name, times in row["none"].items():
        busy = row["all"][name]
        figures = [percentile(times, 50), percentile(times, 99), percentile(busy, 50),
                   percentile(busy, 99), max(busy)]
        yield f"| {name} | " + " | ".join(f"{figure:.2f}" for figure in figures) + " |"


def goals(row):
    return [
        goal(f"{name} while calls wait, ms, 99 of 100", percentile(times, 99), LIMIT)
        for name, times in row["all"].items()]
