"""The work that is measured, in figures of one run of one server."""

import json
import os
import socket
import statistics
import threading
import time

from client import CONTAINER, creates, fields

BATCH = 200


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def latency(seconds):
    return {"median": statistics.median(seconds), "p99": percentile(seconds, 0.99)}


def make_zone(client, zone):
    client.ask("zones/modify", {"operations": [
        {"operationType": "create", "zone": {"zoneID": {"zoneName": zone}}}]})


def fill(client, zone, start, end):
    """Records by batches; the seconds that each request took."""
    path = f"/database/1/{CONTAINER}/development/private/records/modify"
    times = []
    for first in range(start, end, BATCH):
        body = creates(zone, first, min(BATCH, end - first))
        data, elapsed = client.send(path, body)
        if b"serverErrorCode" in data:
            raise RuntimeError(f"records/modify: {data[:500]!r}")
        times.append(elapsed)
    return times


def fill_together(client, zone, count, clients):
    """Seconds for the same records by several clients at once; bodies are made beforehand."""
    path = f"/database/1/{CONTAINER}/development/private/records/modify"
    bodies = [creates(zone, first, BATCH) for first in range(0, count, BATCH)]
    problems = []

    def work(index):
        twin = client.twin()
        for body in bodies[index::clients]:
            data, _ = twin.send(path, body)
            if b"serverErrorCode" in data:
                problems.append(data[:300])

    threads = [threading.Thread(target=work, args=(index,)) for index in range(clients)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    elapsed = time.perf_counter() - start
    if problems:
        raise RuntimeError(f"records/modify: {problems[0]!r}")
    return elapsed


def modify_one(client, zone, count, rounds):
    """One changed record a request, all over the zone."""
    times = []
    for turn in range(rounds):
        number = turn * 7919 % count
        record = {"recordName": f"r{number:08d}", "recordType": "Item",
                  "fields": {"number": {"value": turn, "type": "INT64"}}}
        times.append(client.call("records/modify", {
            "zoneID": {"zoneName": zone},
            "operations": [{"operationType": "forceUpdate", "record": record}]})[1])
    return times


def lookup(client, zone, count, rounds):
    return [client.call("records/lookup", {
        "zoneID": {"zoneName": zone},
        "records": [{"recordName": f"r{(turn * 104729 + n * 31) % count:08d}"}
                    for n in range(BATCH)]})[1] for turn in range(rounds)]


def query(client, zone, count, rounds, kind):
    """One page of 200: records with one number, or the newest by a sorted field."""
    times = []
    for turn in range(rounds):
        if kind == "equal":
            filters = [{"fieldName": "title", "comparator": "EQUALS", "fieldValue": {
                "value": f"Record number {turn * 7919 % count}", "type": "STRING"}}]
            sort = []
        else:
            filters, sort = [], [{"fieldName": "due", "ascending": False}]
        times.append(client.call("records/query", {
            "zoneID": {"zoneName": zone}, "resultsLimit": BATCH,
            "query": {"recordType": "Item", "filterBy": filters, "sortBy": sort}})[1])
    return times


def changes_after_one(client, zone, count, rounds):
    """What a client pays to see one change: the feed from the last token."""
    token = zone_token(client, zone)
    times = []
    for turn in range(rounds):
        modify_one(client, zone, count, 1)
        data, elapsed = client.call("changes/zone", {
            "zones": [{"zoneID": {"zoneName": zone}, "syncToken": token}]})
        page = json.loads(data)["zones"][0]
        if len(page["records"]) != 1:
            raise RuntimeError(f"changes/zone: {len(page['records'])} records after one change")
        token = page["syncToken"]
        times.append(elapsed)
    return times


def zone_token(client, zone):
    answer = client.ask("zones/lookup", {"zones": [{"zoneName": zone}]})
    return answer["zones"][0]["syncToken"]


def download(client, zone, extended):
    """A first fetch of a whole zone: records and the seconds."""
    token, found, seconds = None, 0, 0.0
    while True:
        body = {"zones": [{"zoneID": {"zoneName": zone}, "syncToken": token}]}
        if extended:
            body.update({"extendedLimits": True, "resultsLimit": 2000})
        data, elapsed = client.call("changes/zone", body)
        page = json.loads(data)["zones"][0]
        found += len(page["records"])
        seconds += elapsed
        token = page["syncToken"]
        if not page.get("moreComing"):
            return found, seconds


def upload(client, zone, payload):
    """The dictionary of an upload for the record `asset-1`, and its seconds."""
    tokens = client.ask("assets/upload", {"zoneID": {"zoneName": zone}, "tokens": [
        {"recordName": "asset-1", "recordType": "Item", "fieldName": "photo"}]})["tokens"]
    start = time.perf_counter()
    path = tokens[0]["url"].split("/", 3)[3]
    client.connection.request("POST", "/" + path, payload,
                              {"Content-Type": "application/octet-stream"})
    answer = client.connection.getresponse()
    return json.loads(answer.read())["singleFile"], time.perf_counter() - start


def asset_url(client, zone, value):
    """Saves the upload in its record, and gives where it can be had."""
    record = {"recordName": "asset-1", "recordType": "Item",
              "fields": {"photo": {"value": value, "type": "ASSETID"}}}
    made = client.ask("records/modify", {"zoneID": {"zoneName": zone}, "operations": [
        {"operationType": "forceReplace", "record": record}]})["records"][0]
    return made["fields"]["photo"]["value"]["downloadURL"].replace("${f}", "photo")


def assets(client, zone, megabytes):
    """Bytes a second of one upload and one download."""
    payload = os.urandom(1 << 20) * megabytes
    value, up = upload(client, zone, payload)
    url = asset_url(client, zone, value)
    start = time.perf_counter()
    client.connection.request("GET", "/" + url.split("/", 3)[3])
    answer = client.connection.getresponse()
    data = answer.read()
    down = time.perf_counter() - start
    if data != payload:
        raise RuntimeError("the downloaded asset differs from the uploaded one")
    return {"upload": len(payload) / up, "download": len(payload) / down}


def downloads(server, client, zone, megabytes, count):
    """What `count` downloads of one asset at once, taken slowly, add to the server's memory."""
    value, _ = upload(client, zone, os.urandom(1 << 20) * megabytes)
    url = asset_url(client, zone, value)
    end = threading.Event()

    def work():
        with socket.create_connection((client.host, client.port)) as taker:
            taker.sendall(f"GET /{url.split('/', 3)[3]} HTTP/1.1\r\nHost: {client.host}\r\n"
                          "Connection: close\r\n\r\n".encode())
            while taker.recv(1 << 16):
                # Now and then, so that all of them are at work together.
                end.wait(0.0005)

    takers = [threading.Thread(target=work) for _ in range(count)]
    before = most = server.memory()[0]
    for taker in takers:
        taker.start()
    while any(taker.is_alive() for taker in takers):
        most = max(most, server.memory()[0])
        time.sleep(0.05)
    return most - before


def database_token(client):
    """The end of the feed of the database."""
    answer = client.ask("changes/database", {})
    while answer.get("moreComing"):
        answer = client.ask("changes/database", {"syncToken": answer["syncToken"]})
    return answer["syncToken"]


def many_zones(client, counts, rounds):
    """changes/database and one save by the number of zones of the user."""
    results, made = {}, 0
    for wanted in counts:
        while made < wanted:
            group = range(made, min(made + BATCH, wanted))
            client.ask("zones/modify", {"operations": [
                {"operationType": "create", "zone": {"zoneID": {"zoneName": f"z{n:05d}"}}}
                for n in group]})
            made += len(group)
        fill(client, "z00000", (wanted - 1) * 100_000, (wanted - 1) * 100_000 + 1)
        token = database_token(client)
        feed, save = [], []
        for turn in range(rounds):
            record = {"recordName": "one", "recordType": "Item", "fields": fields(turn)}
            save.append(client.call("records/modify", {
                "zoneID": {"zoneName": "z00000"},
                "operations": [{"operationType": "forceReplace", "record": record}]})[1])
            data, elapsed = client.call("changes/database", {"syncToken": token})
            answer = json.loads(data)
            if len(answer["zones"]) != 1:
                raise RuntimeError(f"changes/database: {len(answer['zones'])} zones, not 1")
            token = answer["syncToken"]
            feed.append(elapsed)
        results[wanted] = {"changes/database": latency(feed), "save": latency(save)}
    return results


def long_polls(client, count):
    """Opens `count` long polls and keeps them; their sockets."""
    sockets = []
    for index in range(count):
        path = f"/device/1/{CONTAINER}/development/tokens/create"
        data, _ = client.send(path, json.dumps({
            "apnsEnvironment": "development", "clientId": f"bench-{index}"}).encode())
        url = json.loads(data)["webcourierURL"]
        waiting = socket.create_connection((client.host, client.port))
        waiting.sendall(f"GET /{url.split('/', 3)[3]} HTTP/1.1\r\nHost: {client.host}\r\n\r\n"
                        .encode())
        sockets.append(waiting)
    return sockets
