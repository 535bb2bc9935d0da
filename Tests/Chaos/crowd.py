"""Three or more machines that edit the same records, move, rename and remove them, and whole zones, while
they are killed and cut off. At the end a fresh machine joins: all trees are equal as they are mounted, and
every save that was acknowledged is there, or a conflict of its machine has it, or somebody who had seen it
has written over it."""

import errno
import json
import os
import random
import re
import threading
import time

import checker
import faults
import verdict
import writers
from subjects import Failure

ZONES = ("Main", "Side")
TYPES = ("Note", "Task")
RECORDS = 6
FIELDS = ("f0", "f1", "f2")
MARK = re.compile(r"<[a-z]\.\d+>")
# What a tree that others change, and a mount that is killed, answer besides.
EXPECTED = writers.EXPECTED | {errno.EEXIST, errno.ENOTEMPTY, errno.EBUSY, errno.ESTALE}


class Ledger:
    """What was saved, and what its writers had seen."""

    def __init__(self):
        self.lock = threading.Lock()
        # By mark: the machine, and all that its writer had seen of the record.
        self.saves = {}
        self.failed = set()
        # What somebody who had seen it has written over, removed, or may have.
        self.replaced = {}
        self.removed = set()

    def closure(self, marks):
        seen = set()
        for mark in marks:
            seen.add(mark)
            if mark in self.saves:
                seen |= self.saves[mark][1]
        return seen

    def begin(self, mark, machine, seen, over):
        with self.lock:
            self.saves[mark] = (machine, self.closure(seen))
            for old in over:
                self.replaced.setdefault(old, set()).add(mark)

    def fail(self, mark):
        with self.lock:
            self.failed.add(mark)

    def remove(self, marks):
        with self.lock:
            self.removed |= self.closure(marks)


class Editor(threading.Thread):
    """Somebody at one machine."""

    def __init__(self, machine, scene, seed, ledger):
        super().__init__(name=f"editor {machine.name}")
        self.machine, self.world, self.ledger = machine, scene, ledger
        self.random = random.Random(seed)
        self.number = 0
        self.errors, self.done = {}, {}

    def run(self):
        acts = [self.edit] * 10 + [self.move] * 2 + [self.rename, self.remove, self.photo, self.photo]
        try:
            while not self.world.is_over.is_set():
                act = self.remove_zone if self.random.random() < 0.005 else self.random.choice(acts)
                try:
                    act()
                    self.done[act.__name__] = self.done.get(act.__name__, 0) + 1
                except OSError as error:
                    name = errno.errorcode.get(error.errno, str(error.errno))
                    self.errors[name] = self.errors.get(name, 0) + 1
                    if error.errno not in EXPECTED:
                        self.world.violation(f"{self.machine.name}: {act.__name__}: {error}")
                self.world.is_over.wait(self.random.choice([0.01, 0.1, 0.5, 1]))
        except BaseException as error:
            self.world.violation(f"{self.name}: {type(error).__name__}: {error}")
            raise

    def folder(self, zone=None, kind=None):
        zone, kind = zone or self.random.choice(ZONES), kind or self.random.choice(TYPES)
        return os.path.join(self.machine.tree(), zone, kind)

    def make(self, folder):
        """A zone and a type in it. Never what is above them: below a mount that is gone would be files."""
        for path in (os.path.dirname(folder), folder):
            try:
                os.mkdir(path)
            except FileExistsError:
                pass

    def path(self):
        return os.path.join(self.folder(), f"r{self.random.randrange(RECORDS)}.json")

    def read(self, path):
        try:
            with open(path, "rb") as file:
                text = file.read()
        except FileNotFoundError:
            return {}
        return json.loads(text) if text else {}

    # What it does

    def edit(self):
        path = self.path()
        self.make(os.path.dirname(path))
        value = self.read(path)
        seen = set(MARK.findall(json.dumps(value)))
        field = self.random.choice(FIELDS)
        self.number += 1
        mark = f"<{self.machine.name}.{self.number}>"
        old = MARK.findall(str(value.get(field, "")))
        value[field] = mark
        self.ledger.begin(mark, self.machine.name, seen, old)
        data = json.dumps(value).encode() + b"\n"
        try:
            if self.random.random() < 0.5:
                writers.write(path, data)
            else:
                temporary = os.path.join(os.path.dirname(path), f".{self.number}.tmp")
                writers.write(temporary, data)
                os.rename(temporary, path)
        except OSError:
            self.ledger.fail(mark)
            raise

    def photo(self):
        path = self.path()
        if os.path.exists(path):
            data = self.random.randbytes(self.random.choice([10, 5_000, 80_000]))
            writers.write(path[:-len(".json")] + "@photo.bin", data)

    def move(self):
        self.go(self.path(), lambda path: os.path.join(self.folder(), os.path.basename(path)))

    def rename(self):
        self.go(
            self.path(), lambda path: os.path.join(
                os.path.dirname(path), f"r{self.random.randrange(RECORDS)}.json"))

    def go(self, path, target):
        """`mv -n`: nothing is written over."""
        target = target(path)
        if os.path.exists(path) and not os.path.exists(target):
            self.make(os.path.dirname(target))
            os.rename(path, target)

    def remove(self):
        self.unlink(self.path())

    def remove_zone(self):
        """`rm -r`: what has come since it began is removed as well."""
        for folder, _, names in os.walk(os.path.join(self.machine.tree(), ZONES[1]), topdown=False):
            for name in names:
                self.unlink(os.path.join(folder, name))
            os.rmdir(folder)

    def unlink(self, path):
        """Whoever removes a file has seen what was in it at that moment: it is read just before, and once
        more from what is still open afterwards."""
        try:
            file = open(path, "rb")
        except FileNotFoundError:
            return
        with file:
            self.note_removal(file)
            try:
                os.unlink(path)
            except FileNotFoundError:
                return
            self.note_removal(file)

    def note_removal(self, file):
        file.seek(0)
        self.ledger.remove(MARK.findall(file.read().decode(errors="replace")))


def settle(machines):
    """All say that all is sent and fetched, and have the same files."""
    begin = time.monotonic()
    while True:
        said = [machine.command("sync").stdout.strip() for machine in machines]
        statuses = [checker.read_status(machine) for machine in machines]
        trees = [machine.tree() for machine in machines]
        different = [verdict.differences(trees[0], tree) for tree in trees[1:]]
        if all(map(checker.is_up_to_date, statuses)) and not any(different):
            return time.monotonic() - begin
        if time.monotonic() - begin > verdict.PATIENCE:
            raise Failure(f"not equal after {verdict.PATIENCE} s: {different}\n{said}")
        time.sleep(1)


def marks_below(directory, hidden=False):
    found = set()
    for folder, folders, names in os.walk(directory):
        folders[:] = [name for name in folders if hidden or not name.startswith(".")]
        for name in names:
            if not name.endswith(".json") or name.startswith("."):
                continue
            try:
                with open(os.path.join(folder, name), errors="replace") as file:
                    found |= set(MARK.findall(file.read()))
            except FileNotFoundError:
                continue
    return found


def judge(scene, ledger):
    machines = list(scene.machines.values())
    scene.say(f"equal after {settle(machines):.1f} s")
    fresh = scene.add("z")
    settle(machines + [fresh])
    tree = marks_below(fresh.tree())
    kept = {
        machine.name: marks_below(os.path.join(machine.mountpoint, ".recordfs", "conflicts"), True)
        for machine in machines}
    everywhere = set().union(*kept.values())
    for mark, (machine, _) in ledger.saves.items():
        if mark in tree or mark in ledger.failed or mark in ledger.removed or mark in ledger.replaced:
            continue
        if mark not in everywhere:
            scene.violation(f"the save {mark} is in history only")
        elif mark not in kept[machine] and not ledger.removed:
            scene.violation(f"the save {mark} lost, and {machine}, which made it, does not say so")
    for mark in tree:
        later = ledger.replaced.get(mark, set()) - ledger.failed
        if later and not later & (ledger.removed | everywhere) and not any(
                other in ledger.replaced for other in later):
            scene.violation(f"{mark} is there, and {sorted(later)}, whose writers had seen it, are not")
    for machine in machines + [fresh]:
        machine.unmount()
        found = machine.command("fsck", "--deep")
        if found.returncode != 0:
            scene.violation(f"fsck of {machine.name}: {found.stdout}")


def play(scene, options, seeds):
    machines = list(scene.machines.values())
    ledger = Ledger()
    for zone in ZONES:
        for kind in TYPES:
            os.makedirs(os.path.join(machines[0].tree(), zone, kind))
    those_who_edit = [Editor(machine, scene, seeds.random(), ledger) for machine in machines]
    those_who_break = [
        faults.Breaker(
            scene, machine.name, [fault for fault in faults.of_machine(machine) if "kill" in fault.name],
            seeds.random())
        for machine in machines]
    longest = 20 if options.seconds >= 300 else 4
    modes = [fault for fault in faults.of_network(scene, longest) if "packet" not in fault.name]
    those_who_break.append(faults.Breaker(scene, "network", modes, seeds.random()))
    for thread in those_who_edit + those_who_break:
        thread.daemon = True
        thread.start()
    scene.is_over.wait(options.seconds)
    scene.is_over.set()
    for thread in those_who_break + those_who_edit:
        thread.join(120)
        if thread.is_alive():
            scene.violation(f"{thread.name} hangs")
    if not scene.violations:
        judge(scene, ledger)
    done = {}
    for editor in those_who_edit:
        for name, count in editor.done.items():
            done[name] = done.get(name, 0) + count
    print(f"done: {done}; failed: {[editor.errors for editor in those_who_edit]}")
    print("faults: " + ", ".join(
        f"{name} {count}" for breaker in those_who_break
        for name, count in sorted(breaker.done.items())))
    print(f"{len(scene.violations)} violations")
    for line in scene.violations:
        print(f"  {line}")
    return not scene.violations
