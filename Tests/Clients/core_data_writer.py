"""Writes the objects of an app as records, as Core Data does by Apple's text "Reading CloudKit
Records for Core Data", with the web protocol alone.

usage: core_data_writer.py URL CONTAINER API_TOKEN EMAIL MODEL [ZONE]
       the first line of stdin is the password, the rest a graph of graph_model.py
"""

import base64
import json
import os
import random
import sys
import urllib.parse
import uuid

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "../../Benchmarks/server"))
from core_data_reader import WIRE, ZONE, signed_in  # noqa: E402
from graph_model import BYTES, LONG_KINDS, Model  # noqa: E402

LONG, ROOM = 60_000, 900_000
OPERATIONS, REQUEST = 200, 2_000_000


class Refused(Exception):
    """The server did not take a record."""


class Writer:
    def __init__(self, client, model, zone=ZONE, seed=0, separator=":"):
        self.client, self.model, self.zone = client, model, zone
        self.random, self.separator = random.Random(f"writer {seed}"), separator
        self.joins = {}

    def make_zone(self):
        self.client.ask("zones/modify", {"operations": [
            {"operationType": "create", "zone": {"zoneID": {"zoneName": self.zone}}}]})

    # Fields

    def upload(self, record_type, name, field, data):
        token = self.client.ask("assets/upload", {
            "zoneID": {"zoneName": self.zone}, "tokens": [
                {"recordType": record_type, "recordName": name, "fieldName": field}]})["tokens"][0]
        url = urllib.parse.urlsplit(token["url"])
        self.client.connection.request("POST", url.path + ("?" + url.query if url.query else ""),
                                       data, {"Content-Type": "application/octet-stream"})
        answer = self.client.connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            raise Refused(f"upload of {field}: {answer.status} {text[:300]!r}")
        return json.loads(text)["singleFile"]

    def fields(self, name, what):
        entity = what["entity"]
        record_type, room = "CD_" + self.model.root(entity), ROOM
        fields = {"CD_entityName": {"type": "STRING", "value": entity}}
        for attribute, kind in self.model.attributes(entity).items():
            kind, value = kind["type"], what["attributes"][attribute]
            if value is None:
                fields["CD_" + attribute] = {"type": WIRE.get(kind, "STRING"), "value": None}
                if kind in LONG_KINDS:
                    fields[f"CD_{attribute}_ckAsset"] = {"type": "ASSETID", "value": None}
                continue
            if kind in LONG_KINDS:
                data = base64.b64decode(value) if kind in BYTES else value.encode()
                if len(data) > room or len(data) > LONG and self.random.random() < 0.5:
                    asset = self.upload(record_type, name, f"CD_{attribute}_ckAsset", data)
                    fields[f"CD_{attribute}_ckAsset"] = {"type": "ASSETID", "value": asset}
                    fields["CD_" + attribute] = {"type": WIRE.get(kind, "STRING"), "value": None}
                    continue
                fields[f"CD_{attribute}_ckAsset"] = {"type": "ASSETID", "value": None}
                room -= len(data)
            if kind == "Decimal":
                value = float(value)
            elif kind == "Boolean":
                value = int(value)
            fields["CD_" + attribute] = {"type": WIRE.get(kind, "STRING"), "value": value}
        for link, kind in self.model.relationships(entity).items():
            if not kind.get("many"):
                fields["CD_" + link] = {"type": "STRING", "value": what["links"][link]}
        if self.random.random() < 0.2:
            receipt = base64.b64encode(self.random.randbytes(40)).decode()
            fields["CD_moveReceipt"] = {"type": "BYTES", "value": receipt}
        return fields

    def operation(self, name, what):
        return {"operationType": "forceUpdate", "record": {
            "recordName": name, "recordType": "CD_" + self.model.root(what["entity"]),
            "fields": self.fields(name, what)}}

    # Joins

    def wanted_joins(self, graph):
        """Each many-to-many link once: two ends (name, relationship)."""
        wanted = set()
        for entity, link, other, inverse, what, back in self.model.pairs():
            if not (what.get("many") and back.get("many")):
                continue
            for name in graph:
                if entity not in self.model.lineage(graph[name]["entity"]):
                    continue
                for to in graph[name]["links"][link]:
                    ends = [(name, link), (to, inverse)]
                    if link == inverse and entity == other:
                        ends.sort()
                    wanted.add(tuple(ends))
        return wanted

    def declaring(self, entity, link):
        return next(one for one in self.model.lineage(entity)
                    if link in self.model.entities[one].get("relationships", {}))

    def join(self, ends, graph):
        named = []
        for name, link in ends:
            entity = graph[name]["entity"]
            # Apple's text does not say which entity of a family is meant.
            named.append((self.random.choice([entity, self.declaring(entity, link)]), name, link))
        self.random.shuffle(named)
        # Where both entities are one, either order is sorted.
        named.sort(key=lambda end: end[0])
        names = [self.separator.join(part) if key == 0 else ":".join(part)
                 for key, part in enumerate(zip(*named))]
        self.joins[ends] = made = str(uuid.UUID(int=self.random.getrandbits(128))).upper()
        return {"operationType": "create", "record": {
            "recordName": made, "recordType": "CDMR", "fields": {
                key: {"type": "STRING", "value": value} for key, value in
                zip(("CD_entityNames", "CD_recordNames", "CD_relationships"), names)}}}

    def join_changes(self, graph):
        wanted = self.wanted_joins(graph)
        there = {}
        for ends, name in self.joins.items():
            match = ends if ends in wanted else ends[::-1]
            there[match] = (ends, name)
        changes = [self.join(ends, graph) for ends in sorted(wanted - set(there))]
        for match in sorted(set(there) - wanted):
            ends, name = there[match]
            del self.joins[ends]
            changes.append({"operationType": "forceDelete", "record": {"recordName": name}})
        return changes

    # Requests

    def send(self, operations):
        batch, size = [], 0
        for operation in operations:
            length = len(json.dumps(operation))
            if batch and (len(batch) == OPERATIONS or size + length > REQUEST):
                self.send_batch(batch)
                batch, size = [], 0
            batch.append(operation)
            size += length
        if batch:
            self.send_batch(batch)

    def send_batch(self, operations):
        answer = self.client.ask("records/modify", {
            "zoneID": {"zoneName": self.zone}, "operations": operations, "desiredKeys": []})
        errors = [item for item in answer["records"] if "serverErrorCode" in item]
        if errors:
            raise Refused(str(errors[:3]))

    def delete(self, graph, removed, changed):
        """Deletes objects, and writes what has changed with them."""
        self.send([{"operationType": "forceDelete", "record": {"recordName": name}}
                   for name in sorted(removed)])
        self.write(graph, changed)

    def write(self, graph, names=None):
        """Writes the objects with these names, or all, and the joins of the whole graph."""
        names = sorted(graph if names is None else names)
        operations = (self.operation(name, graph[name]) for name in names)
        changes = self.join_changes(graph)
        # Relationships may arrive before their objects.
        if self.random.random() < 0.5:
            self.send(changes)
            self.send(operations)
        else:
            self.send(operations)
            self.send(changes)


def main():
    url, container, token, email, model, *zone = sys.argv[1:]
    password, _, text = sys.stdin.read().partition("\n")
    writer = Writer(signed_in(url, container, token, email, password), Model(model), *zone)
    writer.make_zone()
    writer.write(json.loads(text))


if __name__ == "__main__":
    main()
