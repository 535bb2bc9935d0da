"""Shares and moves a large hierarchy, and what another writer waits meanwhile."""

import json
import os
import random
import sqlite3
import statistics
import sys
import threading
import time

import measure
import report
from client import CONTAINER, fields

ZONE = "tree"
BATCH = 200
# More than that are copied in the database, and no longer fetched one by one by a participant.
SAVED = 20_000


def save(name, parent, number=0):
    record = {"recordName": name, "recordType": "Item", "fields": fields(number)}
    if parent:
        record["parent"] = {"recordName": parent}
    return {"operationType": "forceUpdate", "record": record}


def parent_of(name, parent):
    value = {"recordName": parent} if parent else None
    return [{"operationType": "forceUpdate",
             "record": {"recordName": name, "recordType": "Item", "parent": value}}]


def share(root):
    return [{"operationType": "create", "record": {
        "recordName": f"share-{root}", "recordType": "cloudkit.share",
        "publicPermission": "READ_ONLY", "participants": [],
        "forRecord": {"recordName": root}}},
        {"operationType": "forceUpdate", "record": {"recordName": root, "recordType": "Item"}}]


def unshare(root):
    return [{"operationType": "forceDelete", "record": {"recordName": f"share-{root}"}}]


def modify(client, operations):
    """The answer's records, the seconds until it came, and how often the request was sent."""
    start, times = time.perf_counter(), 0
    while True:
        times += 1
        path = f"/database/1/{CONTAINER}/development/private/records/modify"
        try:
            data, _ = client.send(path, json.dumps(
                {"zoneID": {"zoneName": ZONE}, "operations": operations}).encode())
        except RuntimeError as error:
            if "TRY_AGAIN_LATER" not in str(error):
                raise
            continue
        if b"serverErrorCode" in data:
            raise RuntimeError(f"records/modify: {data[:500]!r}")
        return json.loads(data)["records"], time.perf_counter() - start, times


def make(server, client, count):
    """A root, another record, and `count` children of the root with names in no order."""
    measure.make_zone(client, ZONE)
    modify(client, [save("root", None), save("other", None)])
    order = random.Random(1)
    saved = min(count, SAVED)
    for first in range(0, saved, BATCH):
        modify(client, [save(f"{order.getrandbits(128):032X}", "root", number)
                        for number in range(first, min(first + BATCH, saved))])
    copy(os.path.join(server.data, "records.sqlite"), order, count - saved)


def copy(path, order, count):
    """More children, as copies of the youngest one's row, without entries of indexes."""
    database = sqlite3.connect(path, isolation_level=None, timeout=60)
    columns = [row[1] for row in database.execute("PRAGMA table_info(records)")]
    columns.remove("id")
    row = dict(zip(columns, database.execute(
        f"SELECT {', '.join(columns)} FROM records WHERE parent IS NOT NULL "
        "ORDER BY id DESC LIMIT 1").fetchone()))
    size = len(row["fields"])
    insert = (f"INSERT INTO records ({', '.join(columns)}) "
              f"VALUES ({', '.join(':' + column for column in columns)})")
    for first in range(0, count, 10_000):
        part = min(10_000, count - first)
        database.execute("BEGIN IMMEDIATE")
        for _ in range(part):
            row["position"] += 1
            row["tag"] = row["position"]
            row["name"] = b"%032X" % order.getrandbits(128)
            database.execute(insert, row)
        database.execute(
            "UPDATE zones SET position = ?, record_count = record_count + ?, "
            "record_bytes = record_bytes + ? WHERE id = ?",
            (row["position"], part, part * size, row["zone"]))
        database.execute("COMMIT")
    database.close()


class Writer(threading.Thread):
    """Somebody else, who saves one record after the other."""

    def __init__(self, client):
        super().__init__(daemon=True)
        self.client, self.times, self.ends = client, [], False

    def run(self):
        turn = 0
        while not self.ends:
            self.times += measure.modify_one(self.client, "own", 100 + turn, 1)
            turn += 1


def beside(writer_client, work):
    writer = Writer(writer_client)
    writer.start()
    time.sleep(0.3)
    try:
        result, seconds, requests = work()
    finally:
        time.sleep(0.3)
        writer.ends = True
        writer.join()
    times = writer.times
    return result, {"seconds": seconds, "requests": requests, "saves": len(times),
                    "median": statistics.median(times), "p99": measure.percentile(times, 0.99),
                    "most": max(times)}


def quiet():
    """Long enough that the writer's own checkpoints are among what it waits for."""
    time.sleep(10)
    return None, 10.0, 0


def fetch(client, owner):
    """A whole fetch of the shared zone: how many records there are, counted up to SAVED."""
    token, found = None, 0
    while found < SAVED:
        body = {"zones": [{"zoneID": {"zoneName": ZONE, "ownerRecordName": owner},
                           "syncToken": token}], "extendedLimits": True, "resultsLimit": 2000}
        page = client.ask("changes/zone", body, "shared")["zones"][0]
        if "records" not in page:
            return 0
        found += sum(1 for record in page["records"] if not record.get("deleted"))
        token = page["syncToken"]
        if not page.get("moreComing"):
            break
    return found


def run(server, count):
    owner, writer, viewer = (
        server.client(f"{name}@example.org") for name in ("owner", "writer", "viewer"))
    measure.make_zone(writer, "own")
    measure.fill(writer, "own", 0, 200)
    print(f"  making {count} children", file=sys.stderr)
    make(server, owner, count)
    # Connections of their own each time: the server has ended those that had nothing to do.
    figures = {"nothing": beside(writer.twin(), quiet)[1]}

    def step(name, operations, seen):
        records, figures[name] = beside(
            writer.twin(), lambda: modify(owner.twin(), operations))
        print(f"  {name}: {figures[name]}", file=sys.stderr)
        if records and "shortGUID" in records[0] and "create" == operations[0]["operationType"]:
            viewer.twin().ask("records/accept", {"shortGUIDs": [
                {"value": records[0]["shortGUID"]}]}, "public")
            step.owner = records[0]["created"]["userRecordName"]
        found = fetch(viewer.twin(), step.owner)
        if found != seen and min(found, seen) < SAVED:
            raise RuntimeError(f"{name}: a participant sees {found} records, not {seen}")

    step("first share", share("root"), count + 2)
    step("end of the share", unshare("root"), 0)
    step("second share", share("root"), count + 2)
    step("end of the second share", unshare("root"), 0)
    step("share of another record", share("other"), 2)
    step("move below that one", parent_of("root", "other"), count + 3)
    step("move back", parent_of("root", None), 2)
    return figures


def table(figures):
    """Goal: p99 under 100 ms in every row. What a slow or busy machine adds is in the ratio."""
    alone = figures["nothing"]["p99"]
    return report.table(
        ["what the owner does", "seconds", "requests", "saves of another writer", "median, ms",
         "p99, ms", "most, ms", "p99 to that beside nothing"],
        [[name, f"{value['seconds']:.2f}", str(value["requests"]), str(value["saves"]),
          *(f"{value[key] * 1e3:.2f}" for key in ("median", "p99", "most")),
          f"{value['p99'] / alone:.1f}"]
         for name, value in figures.items()])
