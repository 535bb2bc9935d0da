"""Bodies that are wrong in one place or in several: none may end in a 5xx, a body that is not an
error of the protocol, or growing memory.

usage: hostile_bodies.py SERVER [SEED]

Each place gets a third of the wrong values, drawn by the seed; with RECORDFS_LONG=1 all of them.
"""

import copy
import json
import os
import random
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "../../Benchmarks/server"))
from client import CONTAINER  # noqa: E402
from server import Server  # noqa: E402

ZONE = {"zoneName": "Work"}
FIELDS = {
    "s": {"type": "STRING", "value": "x", "isEncrypted": False, "modified": "1"},
    "i": {"type": "INT64", "value": 1},
    "d": {"type": "DOUBLE", "value": 1.5},
    "t": {"type": "TIMESTAMP", "value": 1},
    "b": {"type": "BYTES", "value": "AAAA"},
    "l": {"type": "LOCATION", "value": {"latitude": 1, "longitude": 2, "timestamp": 1}},
    "r": {"type": "REFERENCE", "value": {"recordName": "q", "action": "NONE"}},
    "ls": {"type": "STRING_LIST", "value": ["x"]},
    "u": {"value": 1},
}
NOTE = {"recordType": "Note", "recordName": "n", "createShortGUID": True,
        "parent": {"recordName": "p"}, "fields": FIELDS}
SHARE = {"recordType": "cloudkit.share", "recordName": "share-n",
         "forRecord": {"recordName": "n", "recordChangeTag": "1"}, "publicPermission": "NONE",
         "fields": {"cloudkit.title": {"type": "STRING", "value": "P"}},
         "participants": [{"type": "USER", "permission": "READ_WRITE",
                           "acceptanceStatus": "INVITED",
                           "userIdentity": {"lookupInfo": {"emailAddress": "b@example.org"}}}]}
REMOVED = object()


def query(filters, sorts=(), **others):
    return {"query": {"recordType": "Note", "filterBy": filters, "sortBy": list(sorts)}, **others}


def equal(field, kind, value, comparator="EQUALS"):
    return {"comparator": comparator, "fieldName": field,
            "fieldValue": {"type": kind, "value": value}}


def samples(database_token, zone_token):
    near = {**equal("l", "LOCATION", {"latitude": 1, "longitude": 2}, "NEAR"), "distance": 10.5}
    named = {"comparator": "EQUALS", "systemFieldName": "recordName",
             "fieldValue": {"type": "REFERENCE", "value": {"recordName": "n"}}}
    subscription = {"subscriptionID": "s", "subscriptionType": "query", "zoneID": ZONE,
                    "query": {"recordType": "Note", "filterBy": [equal("s", "STRING", "x")]},
                    "firesOn": ["create"], "firesOnce": True,
                    "notificationInfo": {"alertBody": "b", "shouldBadge": True}}

    def operations(kind, **subject):
        return {"operations": [{"operationType": kind, **subject}]}

    foreign = {"zoneName": "Work", "ownerRecordName": "_x"}
    return [
        ("private", "records/query", query(
            [equal("i", "INT64", 1)], [{"fieldName": "t", "ascending": False}], zoneID=ZONE,
            resultsLimit=7, desiredKeys=["a"], numbersAsStrings=True, zoneWide=False)),
        ("private", "records/query", query(
            [near], [{"fieldName": "l", "relativeLocation": {"latitude": 1, "longitude": 2}}],
            zoneID=ZONE)),
        ("private", "records/query", query(
            [equal("s", "STRING_LIST", ["x", "y"], "IN"), named], zoneID=ZONE)),
        ("private", "records/lookup", {
            "records": [{"recordName": "n", "desiredKeys": ["a"]}], "zoneID": ZONE,
            "desiredKeys": ["b"], "numbersAsStrings": False}),
        ("private", "records/modify", {
            "zoneID": ZONE, "atomic": False, "desiredKeys": ["a"],
            **operations("forceReplace", record=NOTE)}),
        ("private", "records/modify", {"zoneID": ZONE, **operations("create", record=SHARE)}),
        ("private", "records/changes", {
            "zoneID": ZONE, "syncToken": zone_token, "resultsLimit": 5, "desiredKeys": ["a"]}),
        ("private", "changes/database", {"syncToken": database_token, "resultsLimit": 5}),
        ("private", "zones/changes", {"metaSyncToken": database_token}),
        ("private", "changes/zone", {
            "desiredKeys": ["a"], "resultsLimit": 9, "reverse": True, "zones": [{
                "zoneID": ZONE, "syncToken": zone_token, "desiredRecordTypes": ["Note"],
                "reverse": False, "resultsLimit": 3}]}),
        ("private", "zones/list", {}),
        ("private", "zones/lookup", {"zones": [ZONE]}),
        ("private", "zones/modify", operations("create", zone={"zoneID": {"zoneName": "A"}})),
        ("private", "assets/upload", {
            "zoneID": ZONE,
            "tokens": [{"recordName": "n", "recordType": "Note", "fieldName": "photo"}]}),
        ("private", "assets/rereference", {
            "zoneID": ZONE, "assets": [{"recordName": "n", "fieldName": "photo"}]}),
        ("private", "tokens/create", {"apnsEnvironment": "development", "clientId": "7c"}),
        ("private", "tokens/register", {
            "apnsEnvironment": "development", "apnsToken": "AAAA", "clientId": "7c"}),
        ("private", "subscriptions/list", {}),
        ("private", "subscriptions/lookup", {"subscriptions": [{"subscriptionID": "s"}]}),
        ("private", "subscriptions/modify", operations("create", subscription=subscription)),
        ("public", "records/resolve", {
            "shortGUIDs": [{"value": "0Ab", "shouldFetchRootRecord": True,
                            "rootRecordDesiredKeys": ["a"]}]}),
        ("public", "records/accept", {"shortGUIDs": [{"value": "0Ab"}]}),
        ("public", "users/caller", {}),
        ("public", "users/discover", {"lookupInfos": [{"emailAddress": "a@example.org"}]}),
        ("public", "users/lookup/email", {"users": [{"emailAddress": "a@example.org"}]}),
        ("public", "users/lookup/id", {"users": [{"userRecordName": "_a"}]}),
        ("public", "records/modify", operations("forceReplace", record=NOTE)),
        ("public", "records/query", {"query": {"recordType": "Note"}}),
        ("shared", "changes/zone", {"zones": [{"zoneID": foreign}]}),
        ("shared", "zones/modify", operations("delete", zone={"zoneID": foreign})),
    ]


VALUES = [
    None, True, 0, -1, 1, 2**63 - 1, -2**63, 1.5, 1e308, "", "x", "_", "\u0001", "é" * 200,
    "a" * 300, "'; DROP TABLE records;--", "%", "../../etc/passwd", "__defaultOwner__",
    "cloudkit.zoneshare", "_defaultZone", "cloudkit.share", "Users", [], [[]], ["x"] * 201, [None],
    {}, {"recordName": "n"}, {"value": None}, {"value": []}, "AQAAAAAAAAAAAAAAAAAAAAAAAAAA",
    REMOVED]

RAW = [
    b"{", b"nul", b"\xff\xfe", b'{"a":1,"a":2}', b"[" * 100_000,
    b'{"a":' * 70 + b"1" + b"}" * 70, b"1e400", b'{"operations":[],"operations":[]}', b"\0",
    b'"\\ud800"', b"{} {}"]


def places(value, path=()):
    yield path
    if isinstance(value, (dict, list)):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], path + (key,))


def changed(value, path, new):
    if not path:
        return {} if new is REMOVED else new
    value = copy.deepcopy(value)
    holder = value
    for key in path[:-1]:
        holder = holder[key]
    if new is REMOVED:
        del holder[path[-1]]
    else:
        holder[path[-1]] = new
    return value


class Sender:
    def __init__(self, client):
        self.client, self.count = client, 0

    def send(self, scope, operation, body):
        client = self.client
        path = f"/database/1/{CONTAINER}/development/{scope}/{operation}"
        client.connection.request("POST", f"{path}?{client.credentials()}", body,
                                  {"Content-Type": "application/json"})
        answer = client.connection.getresponse()
        data = answer.read()
        client.web_token = (
            answer.getheader("X-Apple-CloudKit-Web-Auth-Token") or client.web_token)
        self.count += 1
        problem = f"{scope}/{operation} {body[:400]!r}: {answer.status} {data[:400]!r}"
        value = json.loads(data)
        if answer.status >= 500 or b"INTERNAL_ERROR" in data:
            sys.exit(problem)
        if answer.status >= 400 and not {"uuid", "serverErrorCode", "reason"} <= value.keys():
            sys.exit(problem)
        return answer.status


def attack(server, chance):
    client = server.client()
    client.ask("zones/modify", {"operations": [
        {"operationType": "create", "zone": {"zoneID": ZONE}}]})
    client.ask("records/modify", {"zoneID": ZONE, "operations": [{
        "operationType": "forceReplace",
        "record": {"recordType": "Note", "recordName": "n", "fields": FIELDS}}]})
    database_token = client.ask("changes/database", {})["syncToken"]
    zone_token = client.ask("changes/zone", {"zones": [{"zoneID": ZONE}]})["zones"][0]["syncToken"]
    bodies = samples(database_token, zone_token)
    sender = Sender(client)
    is_long = os.environ.get("RECORDFS_LONG") == "1"
    drawn = len(VALUES) if is_long else len(VALUES) // 3
    for scope, operation, body in bodies:
        for path in list(places(body)):
            for value in chance.sample(VALUES, drawn):
                sender.send(scope, operation, json.dumps(changed(body, path, value)).encode())
        for raw in RAW:
            if sender.send(scope, operation, raw) < 400:
                sys.exit(f"{scope}/{operation} accepts {raw[:60]!r}")
    before = server.memory()[0]
    for _ in range(3_000):
        scope, operation, body = chance.choice(bodies)
        for _ in range(chance.randint(1, 4)):
            body = changed(body, chance.choice(list(places(body))), chance.choice(VALUES))
        sender.send(scope, operation, json.dumps(body).encode())
    grown = server.memory()[0] - before
    if grown > 30 << 20:
        sys.exit(f"{grown >> 20} MB more memory after 3000 requests")
    return sender.count


def main():
    chance = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    with tempfile.TemporaryDirectory() as folder:
        server = Server(sys.argv[1], folder)
        server.start()
        try:
            count = attack(server, chance)
        finally:
            server.stop()
    print(f"hostile bodies: {count} requests, none with a 5xx")


main()
