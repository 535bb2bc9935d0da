"""The kinds of abuse that hostile callers have."""

import json
import os
import random
import re
import urllib.parse

import measure
from client import CONTAINER

BODY = 4 << 20
ZONE = "hostile"
LARGE = 80


def encoded(value):
    return json.dumps(value, separators=(",", ":")).encode()


def in_zone(**members):
    return encoded({"zoneID": {"zoneName": ZONE}, **members})


def elements(element):
    """Bodies of elements as small as they may be, up to as large as bodies may be: some of them are
    as large as what the server takes."""
    return [b'{"operations":[' + (element + b",") * (size // (len(element) + 1) - 10) + b"0]}"
            for size in range(BODY // 8, BODY + 1, BODY // 8)]


def operation(name, fields, kind="forceUpdate"):
    return {"operationType": kind,
            "record": {"recordName": name, "recordType": "Item", "fields": fields}}


def save(operations, **members):
    return in_zone(atomic=False, operations=operations, **members)


def large_records(first):
    """A batch as large as bodies may be: what it saves is asked for again and again."""
    fields = {"note": {"value": "x" * 180_000, "type": "STRING"}}
    return save([operation(f"large{n}", fields) for n in range(first, first + 20)])


def long_lists():
    """Records that are as large as records may be, of numbers as small as they may be."""
    fields = {"list": {"value": [1] * 450_000, "type": "INT64_LIST"}}
    return save([operation(f"list{n}", fields) for n in range(3)])


def many_words():
    """The same of words, each of which an index could want to have."""
    words = " ".join(f"{n:x}" for n in range(160_000))
    fields = {"text": {"value": words, "type": "STRING"}}
    return save([operation(f"words{n}", fields) for n in range(4)])


def saves():
    """Bodies that become much, and saves that store or answer much."""
    large, lists, words = large_records(0), long_lists(), many_words()
    flat, nested = elements(b"0"), elements(b"[0]")
    texts, members = elements(b'"a"'), elements(b'{"":0}')
    taken = save([operation(f"large{n}", {}, "create") for n in range(LARGE)])
    touched = save([operation(f"large{n}", {"n": {"value": 1, "type": "INT64"}})
                    for n in range(LARGE)])
    small = [operation(f"s{n}", {"n": {"value": n, "type": "INT64"}}) for n in range(200)]

    def deletions(caller):
        operations = [operation(f"d{random.random()}", {}) for _ in range(100)]
        caller.operation("records/modify", save(operations))
        for item in operations:
            item["operationType"] = "forceDelete"
        return caller.operation("records/modify", save(operations))

    def repeated(caller):
        body = save(small, operationID=f"id {random.random()}")
        caller.operation("records/modify", body)
        return caller.operation("records/modify", body)

    return {
        "anonymous numbers": lambda c: c.operation(
            "records/query", flat[-1], "public", anonymous=True),
        "numbers": lambda c: c.operation("records/query", random.choice(flat)),
        "lists": lambda c: c.operation("records/modify", random.choice(nested)),
        "texts": lambda c: c.operation("records/modify", random.choice(texts)),
        "objects": lambda c: c.operation("records/query", random.choice(members)),
        "large saves": lambda c: c.operation("records/modify", large),
        "long lists": lambda c: c.operation("records/modify", lists),
        "many words": lambda c: c.operation("records/modify", words),
        "conflicts": lambda c: c.operation("records/modify", taken),
        "small changes of large records": lambda c: c.operation("records/modify", touched),
        "repeated saves": repeated, "deletions": deletions,
    }


def reads():
    """Small requests with large answers."""
    names = in_zone(records=[{"recordName": f"large{n % LARGE}"} for n in range(200)])
    some = in_zone(records=[{"recordName": f"large{n}"} for n in range(20)])
    feed = encoded({"zones": [{"zoneID": {"zoneName": ZONE}}] * 200})
    sort = [{"fieldName": "note", "ascending": False}]
    query = in_zone(query={"recordType": "Item", "sortBy": sort}, resultsLimit=200)
    values = [{"value": f"{'x' * 4000}{n}", "type": "STRING"} for n in range(200)]
    one_of = in_zone(query={"recordType": "Item", "filterBy": [
        {"fieldName": "note", "comparator": "NOT_IN",
         "fieldValue": {"type": "STRING_LIST", "value": [item["value"] for item in values]}}]})
    return {
        "large lookups": lambda c: c.operation("records/lookup", names),
        "slow lookups": lambda c: c.operation("records/lookup", names, read=False),
        "lookups in gzip": lambda c: c.operation(
            "records/lookup", some, headers="Accept-Encoding: gzip\r\n"),
        "sorted queries": lambda c: c.operation("records/query", query),
        "long filters": lambda c: c.operation("records/query", one_of),
        "feeds": lambda c: c.operation("changes/zone", feed),
        "slow feeds": lambda c: c.operation("changes/zone", feed, read=False),
    }


def upload_path(caller):
    caller.operation("assets/upload", in_zone(tokens=[
        {"recordType": "Item", "fieldName": "photo"}]))
    url = json.loads(caller.content())["tokens"][0]["url"]
    return "/" + url.split("/", 3)[3] + "?"


def connections(client):
    """Those that keep connections, uploads and downloads waiting."""
    payload = os.urandom(8 << 20)
    made = measure.asset_url(client, ZONE, measure.upload(client, ZONE, payload)[0])
    asset = "/" + made.split("/", 3)[3]
    edge = "--edge\r\nContent-Disposition: form-data; name=a; filename=b\r\n\r\n".encode()

    def uploads(caller):
        return caller.request(upload_path(caller), os.urandom(900_000))

    def forms(caller):
        """An upload as a form, in pieces that come slowly."""
        body = edge + payload + b"\r\n--edge--\r\n"
        kind = "Content-Type: multipart/form-data; boundary=edge\r\n"
        with caller.connect() as sock:
            sock.sendall(caller.head(upload_path(caller), len(body), headers=kind))
            for start in range(0, len(body), 256 << 10):
                sock.sendall(body[start:start + (256 << 10)])
                caller.pause(0.02)
            return sock.recv(4096)[9:12].decode() or "none"

    def unfinished(caller):
        """Bodies that lack their last byte."""
        with caller.connect() as sock:
            sock.sendall(caller.head(caller.path("records/modify"), BODY) + b"0" * (BODY - 1))
            caller.pause(3)
        return "left"

    def crowds(caller):
        """Many connections of one caller, each with a body that just costs nothing."""
        length = 64_000
        socks = []
        try:
            for _ in range(10):
                socks.append(caller.connect())
                socks[-1].sendall(caller.head(caller.path("records/modify"), length)
                                  + b"0" * (length - 1))
            caller.pause(3)
        finally:
            for sock in socks:
                sock.close()
        return "left"

    def polls(caller):
        body = encoded({"apnsEnvironment": "development", "clientId": f"poll {id(caller)}"})
        caller.request(f"/device/1/{CONTAINER}/development/tokens/create", body)
        url = json.loads(caller.content())["webcourierURL"]
        with caller.connect() as sock:
            sock.sendall(caller.head("/" + url.split("/", 3)[3] + "?", 0, method="GET"))
            caller.pause(5)
        return "left"

    return {
        "uploads": uploads, "slow forms": forms, "unfinished bodies": unfinished,
        "crowds of connections": crowds, "long polls": polls,
        "slow downloads": lambda c: c.request(asset, method="GET", read=False),
    }


def accounts():
    """Those that keep the server busy with names."""
    def zones(caller):
        name = f"z{random.random()}" + "x" * 200
        for kind in ("create", "delete"):
            status = caller.operation("zones/modify", encoded({"operations": [
                {"operationType": kind, "zone": {"zoneID": {"zoneName": name}}}]}))
        return status

    def sign_ins(caller):
        """Guesses from everywhere for accounts that may be there."""
        place = ".".join(str(random.randrange(1, 255)) for _ in range(4))
        origin = f"X-Forwarded-For: {place}\r\n"
        caller.request("/sign-in?", method="GET", headers=origin)
        page = caller.answer.decode()
        cookie = re.search(r"(?i)set-cookie: ([^;]*)", page).group(1)
        token = re.search(r'name="form" value="([^"]*)"', page).group(1)
        form = urllib.parse.urlencode({
            "form": token, "email": f"{random.random()}@example.org", "password": "a guess"})
        return caller.request("/sign-in?", form.encode(), headers=(
            f"{origin}Cookie: {cookie}\r\nOrigin: http://{caller.client.host}:"
            f"{caller.client.port}\r\nContent-Type: application/x-www-form-urlencoded\r\n"))

    return {"zones": zones, "sign-ins": sign_ins}


def prepare(client):
    """Each kind of abuse by its name, after what they ask for is there."""
    measure.make_zone(client, ZONE)
    for first in range(0, LARGE, 20):
        client.send(f"/database/1/{CONTAINER}/development/private/records/modify",
                    large_records(first))
    return {**saves(), **reads(), **connections(client), **accounts()}
