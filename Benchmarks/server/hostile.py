"""Callers who want the server's memory and disk, and what it needs of both meanwhile."""

import itertools
import json
import os
import random
import socket
import threading
import time
import urllib.parse

from client import CONTAINER

CALLERS = 100
BODY = 4 << 20
QUOTA = 20 << 20
ZONE = "hostile"


def numbers():
    return b'{"operations":[' + b"0," * (BODY // 2 - 20) + b"0]}"


def lists():
    return b'{"operations":[' + b"[0]," * (BODY // 4 - 20) + b"0]}"


def texts():
    return b'{"operations":[' + b'"a",' * (BODY // 4 - 20) + b"0]}"


def record(name, fields):
    return {"operationType": "forceUpdate",
            "record": {"recordName": name, "recordType": "Item", "fields": fields}}


def large_records():
    """A batch as large as bodies may be: what it saves is asked for again and again."""
    fields = {"note": {"value": "x" * 180_000, "type": "STRING"}}
    return json.dumps({"zoneID": {"zoneName": ZONE}, "atomic": False,
                       "operations": [record(f"large{n}", fields) for n in range(20)]}).encode()


def long_lists():
    """Records that are as large as records may be, of numbers as small as they may be."""
    fields = {"list": {"value": [1] * 450_000, "type": "INT64_LIST"}}
    return json.dumps({"zoneID": {"zoneName": ZONE}, "atomic": False, "operations": [
        record(f"list{n}", fields) for n in range(3)]}, separators=(",", ":")).encode()


def many_words():
    """The same of words, each of which an index could want to have."""
    words = " ".join(f"{n:x}" for n in range(160_000))
    fields = {"text": {"value": words, "type": "STRING"}}
    return json.dumps({"zoneID": {"zoneName": ZONE}, "atomic": False, "operations": [
        record(f"words{n}", fields) for n in range(4)]}).encode()


class Caller(threading.Thread):
    """One caller with a kind of abuse, over and over, until the time is up."""

    def __init__(self, client, end, work, statuses):
        super().__init__(daemon=True)
        self.client, self.end, self.work, self.statuses = client, end, work, statuses

    def run(self):
        while time.monotonic() < self.end:
            try:
                self.note(self.work(self))
            except (OSError, ValueError):
                self.note("broken")

    def note(self, status):
        self.statuses[status] = self.statuses.get(status, 0) + 1

    def request(self, path, body, anonymous=False, read=True, method="POST"):
        """Sends over a connection of its own; the status, and no more than the head if not read."""
        query = {"ckAPIToken": self.client.api_token}
        if not anonymous:
            query["ckWebAuthToken"] = self.client.web_token
            query["clientId"] = f"client {random.random()}"
        target = path if "?" in path else f"{path}?{urllib.parse.urlencode(query)}"
        head = (f"{method} {target} HTTP/1.1\r\nHost: {self.client.host}\r\nConnection: close\r\n"
                f"Content-Length: {len(body)}\r\nContent-Type: application/json\r\n\r\n")
        with socket.create_connection((self.client.host, self.client.port), timeout=30) as sock:
            sock.settimeout(30)
            try:
                sock.sendall(head.encode() + body)
            except OSError:
                pass
            first = sock.recv(4096)
            if not read:
                # A reader who takes a little at a time.
                for _ in range(20):
                    if not sock.recv(1024):
                        break
                    time.sleep(0.25)
            else:
                while len(part := sock.recv(65536)) > 0:
                    if len(first) < 100_000:
                        first += part
        self.answer = first
        return first[9:12].decode() or "none"

    def operation(self, name, body, scope="private", **options):
        return self.request(
            f"/database/1/{CONTAINER}/development/{scope}/{name}", body, **options)


def works():
    """Each kind of abuse, by its name."""
    flat, nested, strings, large = numbers(), lists(), texts(), large_records()
    names = json.dumps({"zoneID": {"zoneName": ZONE},
                        "records": [{"recordName": f"large{n % 20}"} for n in range(200)]}).encode()
    feed = json.dumps({"zones": [{"zoneID": {"zoneName": ZONE}}]}).encode()
    lists_saved, words_saved = long_lists(), many_words()
    query = json.dumps({"zoneID": {"zoneName": ZONE}, "query": {"recordType": "Item", "sortBy": [
        {"fieldName": "note", "ascending": False}]}}).encode()

    def zones(caller):
        name = f"z{random.random()}" + "x" * 200
        for kind in ("create", "delete"):
            status = caller.operation("zones/modify", json.dumps({"operations": [
                {"operationType": kind, "zone": {"zoneID": {"zoneName": name}}}]}).encode())
        return status

    def uploads(caller):
        caller.operation("assets/upload", json.dumps({
            "zoneID": {"zoneName": ZONE},
            "tokens": [{"recordType": "Item", "fieldName": "photo"}]}).encode())
        url = json.loads(caller.answer.split(b"\r\n\r\n", 1)[1])["tokens"][0]["url"]
        return caller.request("/" + url.split("/", 3)[3] + "?", os.urandom(900_000))

    def deletions(caller):
        operations = [record(f"d{random.random()}", {}) for _ in range(100)]
        caller.operation("records/modify", json.dumps(
            {"zoneID": {"zoneName": ZONE}, "operations": operations}).encode())
        for operation in operations:
            operation["operationType"] = "forceDelete"
        return caller.operation("records/modify", json.dumps(
            {"zoneID": {"zoneName": ZONE}, "operations": operations}).encode())

    return {
        "anonymous numbers": lambda c: c.operation(
            "records/query", flat, "public", anonymous=True),
        "numbers": lambda c: c.operation("records/modify", flat),
        "lists": lambda c: c.operation("records/modify", nested),
        "texts": lambda c: c.operation("records/modify", strings),
        "large saves": lambda c: c.operation("records/modify", large),
        "large lookups": lambda c: c.operation("records/lookup", names),
        "long lists": lambda c: c.operation("records/modify", lists_saved),
        "many words": lambda c: c.operation("records/modify", words_saved),
        "sorted queries": lambda c: c.operation("records/query", query),
        "slow readers": lambda c: c.operation("changes/zone", feed, read=False),
        "uploads": uploads, "zones": zones, "deletions": deletions,
    }


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


def attack(server, client, seconds):
    """The most memory and disk while 100 callers do their worst for so long, in bytes."""
    statuses = {}
    end = time.monotonic() + seconds
    kinds = works()
    callers = [Caller(client, end, work, statuses.setdefault(name, {}))
               for name, work in itertools.islice(itertools.cycle(kinds.items()), CALLERS)]
    client.send(f"/database/1/{CONTAINER}/development/private/records/modify", large_records())
    before = disk(server.data)
    for caller in callers:
        caller.start()
    most = {"memory": 0, "disk": 0}
    while time.monotonic() < end:
        most["memory"] = max(most["memory"], server.memory()[0])
        most["disk"] = max(most["disk"], disk(server.data) - before)
        time.sleep(0.5)
    for caller in callers:
        caller.join(60)
    return {**most, "seconds": seconds, "answers": statuses}
