"""Callers who want the server's memory and disk, and what it needs of both meanwhile."""

import itertools
import os
import shutil
import subprocess
import threading
import time

import abuse
from caller import Caller

CALLERS = 100
QUOTA = 40 << 20
# Each caller may come from another address, or all guesses of passwords would soon be refused.
SETTINGS = ("--set", "trusted-proxies=127.0.0.1")


def disk(directory):
    """Bytes of the blocks of all files below."""
    total = 0
    for place, _, names in os.walk(directory):
        for name in names:
            try:
                total += os.lstat(os.path.join(place, name)).st_blocks * 512
            except FileNotFoundError:
                pass
    return total


def turn(server, client, kinds, seconds, statuses):
    """The most memory while 100 callers of these kinds do their worst for so long, in bytes."""
    end = time.monotonic() + seconds
    callers = [Caller(client, end, work, statuses.setdefault(name, {}))
               for name, work in itertools.islice(itertools.cycle(kinds.items()), CALLERS)]
    server.forget_highest()
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(seconds + 60)
    return server.memory()[1]


def backups(server, directory, end):
    """One backup after the other until the time is up."""
    while not end.is_set():
        subprocess.run([server.program, "backup", "--data", server.data, directory],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        shutil.rmtree(directory, ignore_errors=True)
        end.wait(5)


def attack(server, client, seconds):
    """The most memory and disk while 100 callers do their worst for so long, in bytes: half of the
    time all kinds of them together, and half of it 100 of each kind in turn."""
    statuses, highest = {}, {}
    before = disk(server.data)
    kinds = abuse.prepare(client)
    end = threading.Event()
    most = {"disk": 0}

    def watch():
        while not end.wait(0.5):
            most["disk"] = max(most["disk"], disk(server.data) - before)

    helpers = [threading.Thread(target=watch), threading.Thread(
        target=backups, args=(server, os.path.join(server.directory, "backup"), end))]
    for helper in helpers:
        helper.start()
    highest["all together"] = turn(server, client, kinds, seconds / 2, statuses)
    for name, work in kinds.items():
        highest[name] = turn(
            server, client, {name: work}, seconds / 2 / len(kinds), statuses)
    end.set()
    for helper in helpers:
        helper.join()
    return {"memory": max(highest.values()), "disk": most["disk"], "seconds": seconds,
            "highest": highest, "answers": statuses}
