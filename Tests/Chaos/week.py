"""A week without a network at B, in which A and the server see much; see scripts/chaos --week."""

import json
import os
import random
import shutil
import subprocess
import time

import verdict
import world
import writers
from checker import is_up_to_date, read_status
from subjects import Failure

NOTES = "private/Week/Note"
GONE = "private/Gone/Note"
# Until both trees are the same after B is back, and the most memory of its daemon.
SECONDS_MAX = 60
MEMORY_MAX = 300_000_000
# Deletions are kept for a minute, the least that the server takes: then the tokens of B have expired.
FORGETFUL = ("--set", "tombstone-seconds=60", "--set", "maintenance-seconds=1")
FORGOTTEN = 65


class World(world.World):
    """Each machine has a way to the server of its own."""

    def __init__(self, home, programs, seed):
        self.seed, self.networks = seed, {}
        super().__init__(home, programs, seed)

    def add(self, name):
        port = world.free_port()
        self.networks[name] = world.Network(port, self.server.port, self.seed)
        self.url = f"http://127.0.0.1:{port}"
        return super().add(name)

    def end(self):
        for network in self.networks.values():
            network.end()
        super().end()


class Side:
    """What somebody has saved on one machine, by record: the last value of each field, or None for a
    record that was deleted."""

    def __init__(self, machine, seed):
        self.machine = machine
        self.random = random.Random(seed)
        self.values = {}
        self.edits = self.deletes = 0

    def path(self, place):
        return os.path.join(self.machine.mountpoint, place)

    def edit(self, place, field):
        """One field, as a program that reads, changes and writes."""
        self.edits += 1
        value = f"{self.machine.name} {self.edits}"
        with open(self.path(place)) as file:
            record = json.load(file)
        record[field] = value
        writers.write(self.path(place), (json.dumps(record, indent=2) + "\n").encode())
        self.values.setdefault(place, {})[field] = value

    def create(self, place):
        record = {"id": os.path.basename(place), "made": self.machine.name}
        writers.write(self.path(place), (json.dumps(record, indent=2) + "\n").encode())
        self.values[place] = {"made": self.machine.name}

    def delete(self, place):
        self.deletes += 1
        os.unlink(self.path(place))
        self.values[place] = None


class Plan:
    """Which records each side changes in the week."""

    def __init__(self, options):
        seeds = random.Random(options.seed)
        names = [f"{NOTES}/r-{number:06}.json" for number in range(options.records)]
        seeds.shuffle(names)
        share = options.records // 50
        self.base = sorted(names)
        self.gone = [f"{GONE}/g-{number:04}.json" for number in range(max(20, share))]
        self.deleted_at_b = names[:options.deletes]
        rest = names[options.deletes:]
        # A deletes some that B edits, and others; B edits all but the latter.
        self.deleted_at_a, rest = rest[:share], rest[share:]
        self.deleted_and_edited = rest[:share]
        self.edited_at_b = rest
        self.edited_at_a = rest[share:]
        # Of these B has deleted what A edits.
        self.revived = self.deleted_at_b[:share]
        self.edited_gone = self.gone[:len(self.gone) // 2]
        self.new_gone = [f"{GONE}/n-{number:04}.json" for number in range(20)] + self.gone[-3:]


def fill(side, plan):
    for place in (NOTES, GONE):
        os.makedirs(side.path(place))
    for place in plan.base + plan.gone:
        record = {"id": os.path.basename(place), "title": "first", "a": "0", "b": "0",
                  "text": "\n".join(f"line {line}" for line in range(5))}
        writers.write(side.path(place), (json.dumps(record, indent=2) + "\n").encode())


def week_of_b(side, plan, options):
    for place in plan.deleted_at_b:
        side.delete(place)
    for number in range(20):
        side.create(f"{NOTES}/new-b-{number}.json")
    for place in plan.deleted_and_edited + plan.edited_gone:
        side.edit(place, "b")
    while side.edits < options.edits:
        side.edit(side.random.choice(plan.edited_at_b), side.random.choice(["b", "b", "title"]))


def week_of_a(side, plan):
    for place in plan.deleted_at_a + plan.deleted_and_edited:
        side.delete(place)
    for number in range(20):
        side.create(f"{NOTES}/new-a-{number}.json")
    for place in plan.edited_at_a[::2] + plan.revived:
        side.edit(place, "a")
    for place in plan.edited_at_a[::10]:
        side.edit(place, "title")
    shutil.rmtree(os.path.dirname(side.path(GONE)))
    # The zone is gone on the server too, before it is there again.
    sent(side.machine)
    os.makedirs(side.path(GONE))
    for place in plan.new_gone:
        side.create(place)
    sent(side.machine)


def sent(machine):
    begin = time.monotonic()
    while True:
        said = machine.command("sync").stdout.strip()
        if is_up_to_date(read_status(machine)):
            return
        if time.monotonic() - begin > verdict.PATIENCE:
            raise Failure(f"{machine.name} has not sent all: {said} {read_status(machine)}")


def restore(scene, backup):
    scene.server.stop()
    shutil.rmtree(scene.server.data)
    scene.server.command("restore", backup)
    scene.server.start()


def run(options, programs):
    world.raise_loopback()
    scene = World(options.run, programs, options.seed)
    try:
        return play(scene, options)
    finally:
        scene.end()


def play(scene, options):
    plan = Plan(options)
    a, b = (Side(scene.machines[name], options.seed) for name in "ab")
    fill(a, plan)
    verdict.settle([a.machine, b.machine])
    backup = os.path.join(scene.server_disk.directory, "backup")
    scene.server.command("backup", backup)
    scene.say(f"seed {options.seed}: {len(plan.base)} records, and a backup of the first day")

    scene.networks["b"].set("refuse")
    scene.server.stop()
    scene.server.start(*FORGETFUL)
    week_of_a(a, plan)
    deleted = time.monotonic()
    scene.say(f"A: {a.edits} edits, {a.deletes} deletes, a zone removed and made again")
    week_of_b(b, plan, options)
    scene.say(f"B, without a network: {b.edits} edits, {b.deletes} deletes")
    if not options.quick:
        scene.is_over.wait(deleted + FORGOTTEN - time.monotonic())
    restore(scene, backup)
    a.machine.sign_in(scene.token)
    sent(a.machine)
    scene.say("the server is restored from the backup; A has signed in again")

    scene.networks["b"].set("pass")
    begin = time.monotonic()
    b.machine.sign_in(scene.token)
    verdict.settle([a.machine, b.machine])
    seconds = time.monotonic() - begin
    memory = highest_memory(b.machine)
    scene.say(f"equal {seconds:.1f} s after B is back; its daemon had {memory / 1e6:.0f} MB at most")
    if not options.quick and seconds > SECONDS_MAX:
        scene.violation(f"{seconds:.1f} s, and {SECONDS_MAX} are allowed")
    if memory > MEMORY_MAX:
        scene.violation(f"the daemon of b had {memory} bytes, and {MEMORY_MAX} are allowed")
    c = scene.add("c")
    verdict.settle([a.machine, c])
    check(scene, plan, a, b)
    for machine in scene.machines.values():
        machine.unmount()
        found = machine.command("fsck", "--deep")
        if found.returncode != 0:
            scene.violation(f"fsck of {machine.name}: {found.stdout}")
    print(f"{len(scene.violations)} violations")
    return not scene.violations


def highest_memory(machine):
    most = 0
    for number in machine.processes():
        with open(f"/proc/{number}/status") as file:
            values = dict(line.split(":", 1) for line in file)
        most = max(most, int(values["VmHWM"].split()[0]) * 1024)
    return most


# What has become of it


def tree(side):
    """The records of a machine by their places."""
    found = {}
    for folder in (NOTES, GONE):
        directory = side.path(folder)
        if not os.path.isdir(directory):
            continue
        for name in os.listdir(directory):
            if not name.startswith("."):
                with open(os.path.join(directory, name)) as file:
                    found[f"{folder}/{name}"] = json.load(file)
    return found


def kept(side):
    """What conflicts keep of each record, by (id, field, value)."""
    found = set()
    top = os.path.join(side.machine.mountpoint, ".recordfs", "conflicts", "private")
    for folder, _, names in os.walk(top):
        for name in {"mine.json", "theirs.json"} & set(names):
            with open(os.path.join(folder, name)) as file:
                record = json.load(file)
            found |= {(record.get("id"), field, value) for field, value in record.items()}
    return found


def check(scene, plan, a, b):
    records = tree(b)
    conflicts = kept(a) | kept(b)
    where = {"in the record": 0, "in a conflict": 0}
    for side in (a, b):
        for place, values in side.values.items():
            for field, value in (values or {}).items():
                identity = (os.path.basename(place), field, value)
                if records.get(place, {}).get(field) == value:
                    where["in the record"] += 1
                elif identity in conflicts:
                    where["in a conflict"] += 1
                else:
                    scene.violation(f"{side.machine.name} saved {field} of {place} as {value!r}: it is "
                                    f"nowhere; the record is {records.get(place)}")
    expected = set(plan.base) - set(plan.deleted_at_b) - set(plan.deleted_at_a)
    expected |= set(plan.revived) | set(plan.edited_gone) | set(plan.new_gone)
    expected |= {f"{NOTES}/new-{name}-{number}.json" for name in "ab" for number in range(20)}
    for place in sorted(set(records) - expected):
        scene.violation(f"{place} is there again: {records[place]}")
    for place in sorted(expected - set(records)):
        scene.violation(f"{place} is lost")
    scene.say(f"{len(records)} records; last values " + ", ".join(
        f"{name}: {count}" for name, count in where.items()))
