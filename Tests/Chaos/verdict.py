"""When all is mended: nothing that was acknowledged is lost, nothing is doubled, all sides are equal."""

import json
import os
import subprocess
import time

import model
import writers
from checker import is_up_to_date, read_status
from subjects import Failure

# How long machines may take to be equal once everything works again.
PATIENCE = 120


def differences(a, b):
    """But for names with a dot, which are of one machine alone."""
    done = subprocess.run(["diff", "-rq", "-x", ".*", a, b], capture_output=True, text=True)
    return (done.stdout + done.stderr).strip()


def settle(machines):
    """Both say that all is sent and fetched, and have the same files; the seconds that it took."""
    begin = time.monotonic()
    while True:
        said = [machine.command("sync").stdout.strip() for machine in machines]
        statuses = [read_status(machine) for machine in machines]
        different = differences(machines[0].tree(), machines[1].tree())
        if all(map(is_up_to_date, statuses)) and not different:
            return time.monotonic() - begin
        if time.monotonic() - begin > PATIENCE:
            raise Failure(
                f"not equal after {PATIENCE} s: {different}\n{said}\n{json.dumps(statuses)}")


def save_uncertain(world, writer):
    """What failed and was not tried again is saved once more, as a person would."""
    for place, file in list(world.model.files.items()):
        if file.is_certain or not os.path.basename(place).startswith(writer.machine.name + "-"):
            continue
        if "@" in place:
            data = writer.random.randbytes(2_000)
        elif place.startswith(writers.PHOTOS):
            data = b'{"title": "again"}\n'
        else:
            data = writer.text()
        path = writer.path(place)
        error = world.model.attempt(place, data, lambda: writers.write(path, data))
        if error:
            raise Failure(f"{place} cannot be saved although everything works: {error}")


def check_files(world, machine):
    """Each file is as its writer left it, and there are no others."""
    expected = {
        place: content for place, (content, _) in world.model.snapshot().items()
        if content is not model.ABSENT}
    for folder in (writers.NOTES, writers.PHOTOS):
        names = os.listdir(os.path.join(machine.mountpoint, folder))
        there = {name for name in names if not name.startswith(".")}
        known = {os.path.basename(place) for place in expected if place.startswith(folder + "/")}
        for name in sorted(known - there):
            world.violation(f"{machine.name}: {folder}/{name} is lost")
        for name in sorted(there - known):
            world.violation(f"{machine.name}: nobody has made {folder}/{name}")
    for place, content in expected.items():
        try:
            with open(os.path.join(machine.mountpoint, place), "rb") as file:
                found = file.read()
        except FileNotFoundError:
            continue
        if place.startswith(writers.PHOTOS) and place.endswith(".json"):
            # The reference to the picture has come into it.
            found, content = json.loads(found)["title"], json.loads(content)["title"]
        if found != content:
            world.violation(f"{machine.name}: {place} is not what was saved last")


def check_counters(world, machine):
    for (place, field), (acknowledged, tried) in world.counters.snapshot().items():
        with open(os.path.join(machine.mountpoint, place)) as file:
            found = json.load(file)[field]
        if not acknowledged <= found <= tried:
            world.violation(
                f"{machine.name}: {place} has {field} {found}, and {acknowledged} was acknowledged")


def check_errors(world, machine):
    """What has failed was saved since."""
    for folder in (writers.NOTES, writers.BOTH, writers.PHOTOS):
        try:
            with open(os.path.join(machine.mountpoint, folder, ".error")) as file:
                world.violation(f"{machine.name}: {folder}/.error says {file.read().strip()}")
        except FileNotFoundError:
            pass


def check_conflicts(world, machine):
    """Nobody has changed what somebody else has changed."""
    conflicts = machine.command("conflicts", "list").stdout.strip()
    if "private" in conflicts:
        world.violation(f"{machine.name} has conflicts: {conflicts}")


def judge(world, those_who_wrote):
    a, b = world.machines["a"], world.machines["b"]
    for writer in those_who_wrote:
        save_uncertain(world, writer)
    seconds = settle([a, b])
    world.say(f"equal after {seconds:.1f} s")
    # A machine that was not there has what the server has.
    c = world.add("c")
    settle([a, c])
    for machine in (a, b, c):
        check_files(world, machine)
        check_counters(world, machine)
        check_conflicts(world, machine)
        check_errors(world, machine)
    for machine in (a, b, c):
        machine.unmount()
        found = machine.command("fsck", "--deep")
        if found.returncode != 0:
            world.violation(f"fsck of {machine.name}: {found.stdout}")
