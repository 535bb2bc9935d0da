"""Graphs as the files of a mount with a model attached: plain JSON files in plain directories."""

import base64
import datetime
import decimal
import json
import os
import random

from graph_model import BYTES

EPOCH = datetime.datetime(1970, 1, 1)
LONG = 50_000


def date_text(milliseconds):
    moment = EPOCH + datetime.timedelta(milliseconds=milliseconds)
    return f"{moment.year:04d}-{moment:%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"


def date_value(text):
    moment = datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ")
    return (moment - EPOCH) // datetime.timedelta(milliseconds=1)


def to_text(kind, value):
    if value is None:
        return None
    if kind == "Date":
        return date_text(value)
    return value


def from_text(kind, value):
    if value is None:
        return None
    if kind == "Date":
        return date_value(value)
    if kind == "UUID":
        return value.upper()
    if kind in ("Double", "Float"):
        return float(value)
    if kind == "Decimal":
        return str(decimal.Decimal(value).normalize())
    if kind == "Boolean" and not isinstance(value, bool):
        return f"no Boolean: {value!r}"
    return value


class Files:
    def __init__(self, zone, model, seed=0):
        self.zone, self.model, self.random = zone, model, random.Random(f"files {seed}")

    def path(self, name, entity, ending=".json"):
        return os.path.join(self.zone, entity, name + ending)

    def write(self, graph):
        """New objects, in any order. Each link is written at one side at least."""
        for entity in self.model.concrete():
            os.makedirs(os.path.join(self.zone, entity), exist_ok=True)
        names = list(graph)
        self.random.shuffle(names)
        written = self.written_links(graph)
        for name in names:
            self.write_object(name, graph[name], written)

    def written_links(self, graph):
        written = {(name, link) for name, what in graph.items() for link in what["links"]
                   if self.random.random() < 0.5}
        for name, what in graph.items():
            relationships = self.model.relationships(what["entity"])
            for link, to in what["links"].items():
                for other in to if isinstance(to, list) else [to] if to else []:
                    inverse = relationships[link]["inverse"]
                    if (name, link) not in written and (other, inverse) not in written:
                        written.add((name, link))
        return written

    def write_object(self, name, what, written):
        entity, text, beside = what["entity"], {}, {}
        for attribute, kind in self.model.attributes(entity).items():
            value = to_text(kind["type"], what["attributes"][attribute])
            if kind["type"] in BYTES and value and len(value) > LONG \
                    and self.random.random() < 0.5:
                beside[attribute] = base64.b64decode(value)
            elif value is not None or self.random.random() < 0.5:
                text[attribute] = value
        for link, to in what["links"].items():
            if (name, link) in written:
                text[link] = to
        members = list(text.items())
        self.random.shuffle(members)
        with open(self.path(name, entity), "w", encoding="utf-8") as file:
            json.dump(dict(members), file, ensure_ascii=self.random.random() < 0.3,
                      indent=self.random.choice([None, 2]))
        for attribute, data in beside.items():
            with open(self.path(name, entity, f"@CD_{attribute}.bin"), "wb") as file:
                file.write(data)

    def rewrite(self, graph, names):
        """Changes files, as an editor does that has the values and links of all of them."""
        beside = self.beside()
        for name in sorted(names, key=lambda _: self.random.random()):
            what = graph[name]
            path = self.path(name, what["entity"])
            with open(path, encoding="utf-8") as file:
                text = json.load(file)
            files = beside.get(name, {})
            for attribute, kind in self.model.attributes(what["entity"]).items():
                kind, value = kind["type"], what["attributes"][attribute]
                found = from_text(kind, text.get(attribute))
                if attribute in files and self.bytes_text(files[attribute]) == value:
                    continue
                if repr(found) != repr(value):
                    text[attribute] = to_text(kind, value)
            text.update(what["links"])
            with open(path + ".new", "w", encoding="utf-8") as file:
                json.dump(text, file)
            os.rename(path + ".new", path)

    def bytes_text(self, path):
        with open(path, "rb") as file:
            return base64.b64encode(file.read()).decode()

    def beside(self):
        """The files of large values: object -> attribute -> path."""
        found = {}
        for entity in self.model.concrete():
            for listed in self.listing(entity):
                name, mark, field = listed.partition("@")
                if mark:
                    attribute = field.split(".")[0].removeprefix("CD_")
                    path = os.path.join(self.zone, entity, listed)
                    found.setdefault(name, {})[attribute] = path
        return found

    def listing(self, entity):
        folder = os.path.join(self.zone, entity)
        return sorted(os.listdir(folder)) if os.path.isdir(folder) else []

    def read(self):
        """The graph that the files show."""
        graph = {}
        for entity in self.model.concrete():
            for listed in self.listing(entity):
                if listed.endswith(".json") and not listed.startswith("."):
                    graph[listed.removesuffix(".json")] = self.read_object(entity, listed)
        for name, files in self.beside().items():
            for attribute, path in files.items():
                if name in graph:
                    self.read_beside(graph[name], path, attribute)
        return graph

    def read_object(self, entity, file_name):
        with open(os.path.join(self.zone, entity, file_name), encoding="utf-8") as file:
            text = json.load(file)
        made = self.model.new_object(entity)
        attributes = self.model.attributes(entity)
        for key, value in text.items():
            if key in made["links"]:
                made["links"][key] = sorted(value) if isinstance(value, list) else value
            elif key in attributes:
                made["attributes"][key] = from_text(attributes[key]["type"], value)
            elif key != "CD_moveReceipt":  # Core Data's own, of an object that was in another zone
                made["attributes"][key] = value
        return made

    def read_beside(self, made, path, attribute):
        kind = self.model.attributes(made["entity"]).get(attribute, {}).get("type")
        with open(path, "rb") as file:
            data = file.read()
        value = base64.b64encode(data).decode() if kind in BYTES else data.decode(
            errors="backslashreplace")
        there = made["attributes"].get(attribute)
        if there is None or isinstance(there, dict):
            made["attributes"][attribute] = value
        elif there != value:
            made["attributes"][attribute] = f"the file and the text of {attribute} differ"

    def remove(self, names, graph):
        for name in names:
            os.remove(self.path(name, graph[name]["entity"]))
