"""A zone that its owner shares with many: how long until all have a change, and what it costs."""

import os
import statistics
import time

from figures import goal
from pairs import RecordFS
from server import CONTAINER, PASSWORD
from subjects import Failure, run, wait_until

ZONE = "Many"
OWNER = "owner"


def measure(options, source, work, folder):
    group = Group(work, folder)
    row = {"participants": options.shared, "records": options.records}
    try:
        group.make(options.shared)
        group.fill(source, options.records)
        group.share()
        row["first download"] = group.accept(options.records)
        row["all"], row["cost"] = group.saves(options.saves)
        group.leave_online(options.shared // 2)
        _, row["cost, half online"] = group.saves(options.saves)
        return row
    finally:
        group.end()


class Group(RecordFS):
    """The mount of an owner, and one for each of those who have the share."""

    def make(self, participants):
        self.home = self.new_folder()
        self.start_server("--set", "log-level=info")
        self.online = [f"p{number}" for number in range(participants)]
        for name in self.online:
            self.server.command(
                "user", "add", self.address(name), "--name", name, "--password-stdin",
                text=PASSWORD + "\n")
        self.enter(OWNER, self.e_mail)

    def address(self, name):
        return f"{name}@example.org"

    def enter(self, name, e_mail):
        self.mount(name)
        mine, self.e_mail = self.e_mail, e_mail
        self.sign_in(name)
        self.e_mail = mine

    def ask(self, name, *words):
        return run(self.program, *words, "--state", self.state(name))

    def place(self, name):
        if name == OWNER:
            return os.path.join(self.mountpoint(OWNER), "private", ZONE, "Note")
        return os.path.join(self.mountpoint(name), "shared", self.e_mail, ZONE, "Note")

    def fill(self, source, count):
        os.makedirs(self.place(OWNER))
        source.make(self.place(OWNER), count)
        self.ask(OWNER, "sync")

    def share(self):
        invited = [word for name in self.online for word in ("--with", self.address(name))]
        self.link = self.ask(OWNER, "share", "create", f"private/{ZONE}", *invited).strip()

    def accept(self, count):
        """Records a second of the first who accepts; the others follow."""
        rate = None
        for name in self.online:
            self.enter(name, self.address(name))
            start = time.monotonic()
            self.ask(name, "accept", self.link)
            wait_until("the records", lambda: self.has(name, count), 1_800)
            rate = rate or count / (time.monotonic() - start)
        return rate

    def has(self, name, count):
        try:
            with os.scandir(self.place(name)) as entries:
                return sum(entry.name.endswith(".json") for entry in entries) == count
        except FileNotFoundError:
            return False

    def saves(self, count):
        """Seconds until the last has a save, for each save; and requests for each."""
        time.sleep(2)
        seconds, before = [], self.requests()
        for number in range(count):
            name = f"note-{number:07}.json"
            text = f'{{"saved": {time.monotonic_ns()}}}\n'
            start = time.monotonic()
            with open(os.path.join(self.place(OWNER), name), "w") as file:
                file.write(text)
            self.wait_for(name, text)
            seconds.append(time.monotonic() - start)
        # What the last save has brought about.
        time.sleep(2)
        return seconds, (self.requests() - before) / count

    def wait_for(self, name, text):
        waiting = [os.path.join(self.place(participant), name) for participant in self.online]
        start = time.monotonic()
        while waiting:
            waiting = [path for path in waiting if read(path) != text]
            if time.monotonic() - start > 60:
                raise Failure(f"{len(waiting)} do not have a save after 60 s")

    def leave_online(self, count):
        for name in self.online[count:]:
            self.ask(name, "pause")
        self.online = self.online[:count]

    def requests(self):
        """But for the long polls by which news is told."""
        with open(os.path.join(self.home, "server.log")) as log:
            return sum(
                "message=request" in line and "endpoint=courier" not in line for line in log)


def read(path):
    with open(path) as file:
        return file.read()


def lines(row):
    yield f"{row['records']} records, shared with {row['participants']}:"
    yield f"  first download of who accepts, records a second: {row['first download']:.0f}"
    yield f"  a save is with all, ms: median {statistics.median(row['all']) * 1e3:.0f}, " \
          f"most {max(row['all']) * 1e3:.0f}"
    yield f"  requests for a save: {row['cost']:.1f}; with half of them paused: " \
          f"{row['cost, half online']:.1f}"


def goals(row):
    return [
        goal("a save is with all, s (most)", max(row["all"]), 1),
        goal("requests for a save, for each participant", row["cost"] / (row["participants"] + 1), 5)]
