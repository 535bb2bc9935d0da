"""Reads status all the time: what it claims must be so at that moment."""

import http.client
import json
import os
import random
import threading

# Reads of status a second.
RATE = 20


def is_up_to_date(status):
    """Whether it says that everything saved here is on the server."""
    sync = status["sync"]
    return (
        sync is not None and sync["idle"] and not sync["problems"] and not sync["paused"]
        and status["unsaved"] == 0
        and all(zone["pending"] == 0 and zone["refused"] == 0 and zone["drafts"] == 0
                for zone in status["zones"]))


def read_status(machine):
    """Errors: OSError while there is no daemon, ValueError for what is no JSON."""
    with open(os.path.join(machine.mountpoint, ".recordfs", "status.json")) as file:
        return json.load(file)


class Checker(threading.Thread):
    """Of one machine. A claim is compared with the server at once, or as soon as it answers again:
    what counts only grows, so that a late look is as true."""

    def __init__(self, machine, world, seed):
        super().__init__(name=f"checker {machine.name}")
        self.machine, self.world = machine, world
        self.random = random.Random(seed)
        self.client = world.sign_in()
        self.reads = self.claims = self.compared = 0
        self.open_claims = []
        self.refusal = None

    def run(self):
        try:
            while not self.world.is_over.wait(1 / RATE):
                self.look()
        except BaseException as error:
            self.world.violation(f"checker {self.machine.name}: {type(error).__name__}: {error}")
            raise

    def finish(self):
        """The server stands again, and the network; a connection of before may be broken."""
        for _ in range(3):
            self.compare()
        if self.open_claims:
            self.world.violation(f"the server answers no lookup: {self.refusal}")

    def look(self):
        before = self.world.counters.snapshot()
        try:
            status = read_status(self.machine)
        except OSError:
            return
        except ValueError as error:
            self.world.violation(f"status of {self.machine.name} is no JSON: {error}")
            return
        self.reads += 1
        if (status["sync"] or {}).get("needsSignIn"):
            self.world.violation(f"{self.machine.name} has lost its sign-in")
        if not is_up_to_date(status):
            return
        self.claims += 1
        mine = [(key, value[0]) for key, value in before.items() if key[1] == self.machine.name]
        self.open_claims.append(self.random.choice(mine))
        self.compare()

    def compare(self):
        while self.open_claims:
            (path, field), number = self.open_claims[-1]
            try:
                found = self.lookup(path, field)
            except (OSError, http.client.HTTPException, RuntimeError, ValueError) as error:
                self.refusal = f"{type(error).__name__}: {error}"
                self.client.connection.close()
                return
            self.open_claims.pop()
            self.compared += 1
            if found < number:
                self.world.violation(
                    f"{self.machine.name} says that all is sent; {path} has {field} {number} here "
                    f"and {found} on the server")

    def lookup(self, path, field):
        _, zone, _, name = path.split("/")
        answer = self.client.ask("records/lookup", {
            "zoneID": {"zoneName": zone}, "records": [{"recordName": name.removesuffix(".json")}]})
        return answer["records"][0]["fields"][field]["value"]
