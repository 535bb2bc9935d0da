"""Programs that save on a machine while it is killed, cut off and out of space."""

import errno
import json
import os
import random
import threading
import time

import model

NOTES = "private/Chaos/Note"
BOTH = "private/Chaos/Both"
PHOTOS = "private/Photos/Photo"
SHARED_RECORDS = 6
# A mount whose daemon is gone, or not there yet, a full disk, and a reader that had to wait too long.
EXPECTED = {
    errno.ENOTCONN, errno.ECONNABORTED, errno.EIO, errno.ENOENT, errno.ENOSPC, errno.EDQUOT,
    errno.ENODEV, errno.EINTR,
}


def write(path, data, flags=os.O_TRUNC):
    """An error of close is an error of the save."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | flags, 0o644)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view):]
    except BaseException:
        try:
            os.close(descriptor)
        except OSError:
            pass
        raise
    os.close(descriptor)


class Writer(threading.Thread):
    """Saves on one machine until it is told to stop; remembers what was acknowledged."""

    def __init__(self, machine, world, seed):
        super().__init__(name=f"writer {machine.name}")
        self.machine, self.world = machine, world
        self.random = random.Random(seed)
        self.number = 0
        self.errors = {}

    def path(self, place):
        return os.path.join(self.machine.mountpoint, place)

    def run(self):
        acts = [self.save, self.save, self.replace, self.remove, self.photo, self.both, self.both]
        try:
            while not self.world.is_over.is_set():
                error = self.random.choice(acts)()
                if error is not None:
                    self.note(error)
                    # A mount that is not there would make this a busy loop.
                    self.world.is_over.wait(0.05)
                self.world.is_over.wait(self.random.choice([0, 0, 0, 0.01, 0.1, 0.5]))
        except BaseException as error:
            self.world.violation(f"writer {self.machine.name}: {type(error).__name__}: {error}")
            raise

    def note(self, error):
        name = errno.errorcode.get(error.errno, str(error.errno))
        self.errors[name] = self.errors.get(name, 0) + 1
        if error.errno not in EXPECTED:
            self.world.violation(f"{self.machine.name}: {error}")

    # What it does

    def text(self):
        self.number += 1
        lines = "\n".join(
            f"line {line} of {self.random.randrange(1_000)}"
            for line in range(self.random.choice([1, 3, 30, 300])))
        value = {"title": f"{self.machine.name} {self.number}", "n": self.number, "text": lines}
        return (json.dumps(value, indent=self.random.choice([None, 1, 2])) + "\n").encode()

    def note_path(self):
        return f"{NOTES}/{self.machine.name}-{self.random.randrange(40):02}.json"

    def save(self):
        place, text = self.note_path(), self.text()
        return self.world.model.attempt(
            place, text, lambda: write(self.path(place), text)) or self.check(place, text)

    def replace(self):
        """As sed -i and most editors do."""
        place, text = self.note_path(), self.text()
        folder, name = os.path.split(self.path(place))

        def act():
            temporary = os.path.join(folder, f".{name}.{self.number}.tmp")
            write(temporary, text)
            os.rename(temporary, os.path.join(folder, name))

        return self.world.model.attempt(place, text, act) or self.check(place, text)

    def check(self, place, text):
        """What was acknowledged is read back."""
        try:
            with open(self.path(place), "rb") as file:
                found = file.read()
        except OSError as error:
            return error
        if found != text:
            self.world.violation(
                f"{self.machine.name} has saved {place} with {len(text)} bytes, {text[:50]!r}, and "
                f"reads {len(found)}, {found[:50]!r}")
        return None

    def remove(self):
        place = self.note_path()
        file = self.world.model.files.get(place)
        if file is None or not file.is_certain or file.acknowledged is model.ABSENT:
            return None
        return self.world.model.attempt(place, model.ABSENT, lambda: os.unlink(self.path(place)))

    def photo(self):
        """The record first, once; then its bytes, again and again."""
        name = f"{self.machine.name}-{self.random.randrange(6)}"
        record = f"{PHOTOS}/{name}.json"
        file = self.world.model.files.get(record)
        if file is None or not file.is_certain:
            text = (json.dumps({"title": name}) + "\n").encode()
            error = self.world.model.attempt(
                record, text, lambda: write(self.path(record), text))
            if error:
                return error
        place = f"{PHOTOS}/{name}@picture.bin"
        data = self.random.randbytes(self.random.choice([10, 5_000, 80_000, 700_000]))
        return self.world.model.attempt(place, data, lambda: write(self.path(place), data))

    def both(self):
        """One field of a record of which the other machine changes another, in the open file."""
        place = f"{BOTH}/both-{self.random.randrange(SHARED_RECORDS)}.json"
        key = (place, self.machine.name)
        number = self.world.counters.next(key)
        try:
            descriptor = os.open(self.path(place), os.O_RDWR)
            try:
                self.change(descriptor, place, number)
            except OSError:
                try:
                    os.close(descriptor)
                except OSError:
                    pass
                raise
            os.close(descriptor)
        except OSError as error:
            return error
        self.world.counters.acknowledge(key, number)
        return None

    def change(self, descriptor, place, number):
        text = os.pread(descriptor, 1_000_000, 0)
        try:
            value = json.loads(text)
        except ValueError:
            self.world.violation(f"{self.machine.name}: {place} is no JSON: {text[:200]!r}")
            return
        value[self.machine.name] = number
        # Somebody's change may come while the file is open.
        time.sleep(self.random.choice([0, 0, 0.02]))
        data = json.dumps(value, indent=2).encode() + b"\n"
        os.pwrite(descriptor, data, 0)
        os.ftruncate(descriptor, len(data))


def prepare(machine, world):
    """The places, each with a record, for others hear of no empty type; and the records that both
    machines change."""
    for place in (NOTES, BOTH, PHOTOS):
        os.makedirs(os.path.join(machine.mountpoint, place))
    for place in (NOTES, PHOTOS):
        first, text = f"{place}/first.json", b'{"title": "first"}\n'
        error = world.model.attempt(
            first, text, lambda: write(os.path.join(machine.mountpoint, first), text))
        if error:
            raise error
    for number in range(SHARED_RECORDS):
        place = f"{BOTH}/both-{number}.json"
        write(os.path.join(machine.mountpoint, place), b'{\n  "a": 0,\n  "b": 0\n}\n')
        for name in "ab":
            world.counters.values[(place, name)] = (0, 0)
