"""A daemon that has many records in sync and nothing to do: memory, time of the processor, requests."""

import json
import os
import subprocess
import time

from client import Client, creates
from figures import goal
from pairs import RecordFS
from server import CALLBACK, CONTAINER
from subjects import Failure

ZONE = "Many"
# What one request may create.
BATCH = 200
# Memory of a download is given back after a while without work.
REST = 60
SECONDS = 60


def measure(options, work, folder):
    side = Side(work, folder)
    try:
        side.make(options.idle)
        seconds = side.download(options.idle)
        print(f"{options.idle} records came in {seconds:.0f} s", flush=True)
        time.sleep(10 if options.quick else REST)
        return side.idle(10 if options.quick else SECONDS) | {
            "records": options.idle, "download": options.idle / seconds}
    finally:
        side.end()


class Side(RecordFS):
    """One machine, which joins when the server has all."""

    side = "a"
    zone = ZONE

    def make(self, count):
        self.home = self.new_folder()
        self.start_server("--set", "log-level=info")
        self.fill(count)
        self.mount("a")

    def fill(self, count):
        token = self.server.command(
            "token", "create", CONTAINER, "--name", "filler", "--callback", CALLBACK).split()[0]
        client = Client("127.0.0.1", self.server.port, token)
        client.sign_in(self.e_mail, self.password)
        client.ask("zones/modify", {
            "operations": [
                {"operationType": "create", "zone": {"zoneID": {"zoneName": self.zone}}}]})
        path = f"/database/1/{client.container}/development/private/records/modify"
        for batch in self.batches(count):
            client.send(path, batch)

    def batches(self, count):
        for start in range(0, count, BATCH):
            yield creates(ZONE, start, min(BATCH, count - start))

    def download(self, count):
        begin = time.monotonic()
        self.sign_in(self.side)
        while not self.has(count):
            if time.monotonic() - begin > 1_800:
                raise Failure("the records do not come")
            time.sleep(0.1)
        return time.monotonic() - begin

    def has(self, count):
        with open(os.path.join(self.mountpoint(self.side), ".recordfs", "status.json")) as file:
            status = json.load(file)
        return status["sync"]["idle"] and sum(zone["records"] for zone in status["zones"]) == count

    def idle(self, seconds):
        number, = self.processes()
        requests, spent = self.requests(), processor(number)
        time.sleep(seconds)
        found = {
            "seconds": seconds, "processor": processor(number) - spent,
            "requests": self.requests() - requests, "connections": self.connections(number)}
        return found | memory(number)

    def requests(self):
        with open(os.path.join(self.home, "server.log")) as log:
            return sum("message=request" in line for line in log)

    def connections(self, number):
        told = subprocess.run(
            ["ss", "-Htnp", "state", "established", f"dport = :{self.server.port}"],
            capture_output=True, text=True, check=True).stdout
        return sum(f"pid={number}," in line for line in told.splitlines())


def processor(number):
    """Seconds that a process has computed."""
    with open(f"/proc/{number}/stat") as file:
        words = file.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def memory(number):
    """In bytes: what it holds now, its share of what several hold, its own, and the most so far."""
    found = {}
    for name in ("smaps_rollup", "status"):
        with open(f"/proc/{number}/{name}") as file:
            for line in file:
                words = line.split()
                if words[0] in ("Rss:", "Pss:", "Pss_Anon:", "VmHWM:"):
                    found[words[0].rstrip(":")] = int(words[1]) * 1024
    return found


def lines(row):
    yield f"{row['records']} records, {row['download']:.0f} a second; then {row['seconds']} s idle:"
    yield "  memory, MB: " + ", ".join(
        f"{name} {row[name] / 1e6:.1f}" for name in ("Rss", "Pss", "Pss_Anon", "VmHWM"))
    yield f"  processor: {row['processor']:.2f} s"
    yield f"  requests: {row['requests']}; connections: {row['connections']}"


def goals(row):
    minutes = row["seconds"] / 60
    return [
        goal("memory of an idle daemon, MB", row["Rss"] / 1e6, 100),
        goal("its time of the processor, s a minute", row["processor"] / minutes, 0.1),
        # A long poll ends after 50 s, and the next one begins; every five minutes it asks without one.
        goal("its requests a minute", row["requests"] / minutes, 5)]
