"""Reads the objects of an app from its records, by Apple's text "Reading CloudKit Records for Core
Data" and the web protocol alone.

usage: core_data_reader.py URL CONTAINER API_TOKEN EMAIL MODEL [ZONE]      the password is on stdin

Prints the graph of graph_model.py. It knows nothing of RecordFS.
"""

import base64
import decimal
import os
import sys
import urllib.parse

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "../../Benchmarks/server"))
from client import Client  # noqa: E402

from graph_model import BYTES, INTEGERS, LONG_KINDS, Model, canonical  # noqa: E402

ZONE = "com.apple.coredata.cloudkit.zone"
WIRE = {**dict.fromkeys(INTEGERS, "INT64"), "Boolean": "INT64", "Date": "TIMESTAMP",
        "Decimal": "DOUBLE", "Double": "DOUBLE", "Float": "DOUBLE", "Binary": "BYTES",
        "Transformable": "BYTES"}


class Unreadable(Exception):
    """A record is not what Core Data makes."""


def fetch(client, zone):
    """The records of a zone, by name."""
    records, token = {}, None
    while True:
        asked = {"zoneID": {"zoneName": zone}, **({"syncToken": token} if token else {})}
        page = client.ask("changes/zone", {"zones": [asked]})["zones"][0]
        if "serverErrorCode" in page:
            raise Unreadable(f"{zone}: {page}")
        for record in page["records"]:
            if record.get("deleted"):
                records.pop(record["recordName"], None)
            else:
                records[record["recordName"]] = record
        token = page["syncToken"]
        if not page.get("moreComing"):
            return records


def download(client, asset):
    url = urllib.parse.urlsplit(asset["downloadURL"].replace("${f}", "value"))
    client.connection.request("GET", url.path + "?" + url.query)
    answer = client.connection.getresponse()
    data = answer.read()
    if answer.status != 200 or len(data) != asset["size"]:
        raise Unreadable(f"asset of {asset['size']} bytes: {answer.status}, {len(data)} bytes")
    return data


class Reader:
    def __init__(self, client, model, records):
        self.client, self.model, self.records = client, model, records
        self.graph = {}

    def read(self):
        joins = []
        for name, record in self.records.items():
            if record["recordType"] == "CDMR":
                joins.append(record)
            elif record["recordType"].startswith("CD_"):
                self.graph[name] = self.read_object(name, record)
        for name in self.graph:
            self.read_keys(name)
        for record in joins:
            self.read_join(record)
        return self.graph

    def read_object(self, name, record):
        entity = record["fields"]["CD_entityName"]["value"]
        if entity not in self.model.entities:
            raise Unreadable(f"{name}: no entity {entity}")
        if record["recordType"] != "CD_" + self.model.root(entity):
            raise Unreadable(f"{name}: {entity} in a record of type {record['recordType']}")
        made = self.model.new_object(entity)
        for attribute, what in self.model.attributes(entity).items():
            made["attributes"][attribute] = self.read_value(record, attribute, what["type"])
        return made

    def read_value(self, record, attribute, kind):
        field = record["fields"].get("CD_" + attribute)
        value = field and field["value"]
        if kind in LONG_KINDS and not value:
            # The original field's length is zero: the value is in the asset, if there is one.
            asset = record["fields"].get(f"CD_{attribute}_ckAsset")
            if asset:
                data = download(self.client, asset["value"])
                return base64.b64encode(data).decode() if kind in BYTES else data.decode()
        if value is None:
            return None
        if field["type"] not in (WIRE.get(kind, "STRING"), "NUMBER"):
            raise Unreadable(f"{record['recordName']}: {attribute} is {field['type']}")
        if kind == "Boolean":
            return bool(value)
        if kind == "UUID":
            return value.upper()
        if kind in ("Double", "Float"):
            return float(value)
        if kind == "Decimal":
            return str(decimal.Decimal(repr(float(value))).normalize())
        if kind in BYTES:
            return base64.b64encode(base64.b64decode(value)).decode()
        return value

    def read_keys(self, name):
        """The keys are at the side of one object, and both sides of one-to-one relationships."""
        fields, owner = self.records[name]["fields"], self.graph[name]
        relationships = self.model.relationships(owner["entity"])
        for link, what in relationships.items():
            key = fields.get("CD_" + link)
            if what.get("many") or not key:
                continue
            other = self.graph.get(key["value"])
            if not other:
                continue
            if what["to"] not in self.model.lineage(other["entity"]):
                raise Unreadable(f"{name}: {link} leads to the {other['entity']} {key['value']}")
            owner["links"][link] = key["value"]
            back = other["links"][what["inverse"]]
            if isinstance(back, list):
                other["links"][what["inverse"]] = sorted({*back, name})

    def read_join(self, record):
        parts = [record["fields"][key]["value"].replace(";", ":").split(":") for key in
                 ("CD_entityNames", "CD_recordNames", "CD_relationships")]
        if any(len(part) != 2 for part in parts):
            raise Unreadable(f"{record['recordName']}: {parts}")
        entities, names, links = parts
        if entities != sorted(entities):
            raise Unreadable(f"{record['recordName']}: {entities} are not in order")
        for owner, link, other in ((0, links[0], 1), (1, links[1], 0)):
            if names[owner] not in self.graph or names[other] not in self.graph:
                continue
            owning = self.graph[names[owner]]
            if entities[owner] not in self.model.lineage(owning["entity"]):
                raise Unreadable(f"{record['recordName']}: {names[owner]} is no {entities[owner]}")
            owning["links"][link] = sorted({*owning["links"][link], names[other]})


def joins(client, zone=ZONE):
    """The names of the CDMR records, by their two ends (record name, relationship)."""
    found = {}
    for name, record in fetch(client, zone).items():
        if record["recordType"] == "CDMR":
            parts = [record["fields"][key]["value"].split(":") for key in
                     ("CD_recordNames", "CD_relationships")]
            found[tuple(zip(*parts))] = name
    return found


def read(client, model, zone=ZONE):
    return Reader(client, model, fetch(client, zone)).read()


def signed_in(url, container, token, email, password):
    parts = urllib.parse.urlsplit(url)
    client = Client(parts.hostname, parts.port, token, container=container)
    client.sign_in(email, password)
    return client


def main():
    url, container, token, email, model, *zone = sys.argv[1:]
    client = signed_in(url, container, token, email, sys.stdin.readline().rstrip("\n"))
    print(canonical(read(client, Model(model), *zone)))


if __name__ == "__main__":
    main()
