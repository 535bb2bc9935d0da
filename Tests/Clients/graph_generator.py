"""Random graphs of a model, with the values at which programs break.

usage: graph_generator.py MODEL SEED OBJECTS      prints a graph
"""

import base64
import decimal
import random
import struct
import sys
import uuid

from graph_model import (
    BYTES, INTEGERS, LONG_KINDS, Model, canonical, connect, disconnect, others, remove)

TEXTS = [
    "", " ", "a", "null", "true", "0", "12.50", "\"quoted\" \\ back / slash", "line\nline\r\nline",
    "\ttab", "\u0001\u001f control", "\u007f", "é e\u0301", "ﬁ ligature", "Ünïcödé", "日本語",
    "العربية \u202eleft", "👩\u200d👩\u200d👧 🏳️\u200d🌈", "\U0010ffff", "\uffff\ufffe",
    "\ufeffmark", "\u2028\u2029", "{\"$timestamp\": \"x\"}", "$ref", "[1, 2]", "-0", "1e5",
    "2026-11-20T10:00:00.000Z", "A5B7", "AAAA", "x" * 255, "é" * 128, "end "]
DATES = [
    0, -1, 1, 999, -999, -86_400_000, 978_307_200_000, 978_307_199_999, -978_307_200_000,
    -62_135_596_800_000, 64_092_211_200_000, 253_402_300_799_999, -2_208_988_800_001,
    -11_644_473_600_000, 2_147_483_648_000, 951_782_400_000, 1_767_225_600_123]
DOUBLES = [
    0.0, -0.0, 1.0, -1.0, 0.1, 0.30000000000000004, 1 / 3, 5e-324, -5e-324,
    2.2250738585072014e-308, 1.7976931348623157e308, -1.7976931348623157e308, 1e21, 1e22, 1e-7,
    123456789.0, 9007199254740993.0, 1e15, 1e16, 1e17, 4503599627370496.5]
FLOATS = [0.0, 1.0, -1.5, 0.1, 3.4028234663852886e38, 1.401298464324817e-45, 16777217.0, 1e-5]
DECIMALS = [
    "0", "1", "-1", "0.1", "12.5", "0.01", "-0.01", "99999999999999", "0.000001", "123456.789",
    "1E+20", "1E-10", "100", "999999999999.999", "-123456789012345", "9007199254740992"]
ADDRESSES = [
    "https://example.org/", "https://example.org/a%20b?c=d&e=%C3%A9#f", "mailto:a@b.example",
    "urn:isbn:0451450523", "file:///tmp/x", "x-coredata://A/B/p1", "a/relative"]
LENGTHS = [0, 1, 2, 3, 4, 255, 256, 257]
LONG_LENGTHS = [65_535, 65_536, 65_537, 999_990, 1_000_001, 1_500_000]


def double(text):
    """The Decimal of the shortest text that a DOUBLE gives back."""
    return str(decimal.Decimal(repr(float(text))).normalize())


class Generator:
    def __init__(self, model, seed):
        self.model, self.random = model, random.Random(f"{model.name} {seed}")
        self.turns = {}

    def turn(self, kind, choices):
        """Each of the choices in turn, so that a small graph has them all."""
        index = self.turns.get(kind, 0)
        self.turns[kind] = index + 1
        return choices[index % len(choices)]

    def name(self, entity):
        made = str(uuid.UUID(int=self.random.getrandbits(128), version=4)).upper()
        # Core Data names records either way, by its version.
        return made if self.random.random() < 0.7 else f"CD_{entity}_{made}"

    def value(self, what):
        kind = what["type"]
        if not what.get("required") and self.random.random() < 0.12:
            return None
        if kind in INTEGERS:
            bits = INTEGERS[kind]
            low = what.get("minimum", -(1 << bits))
            high = what.get("maximum", (1 << bits) - 1)
            return self.turn((kind, low), [low, high, 0, low + 1, high - 1, 1, -1,
                                           self.random.randint(low, high)])
        if kind == "Boolean":
            return self.random.random() < 0.5
        if kind == "Date":
            return self.either(kind, DATES, lambda: self.random.randint(-10**13, 10**13))
        if kind == "Double":
            return self.either(kind, DOUBLES, lambda: self.random.uniform(-1e9, 1e9))
        if kind == "Float":
            made = self.either(kind, FLOATS, lambda: self.random.uniform(-1e9, 1e9))
            return struct.unpack("f", struct.pack("f", made))[0]
        if kind == "Decimal":
            return double(self.either(
                kind, DECIMALS, lambda: str(self.random.randint(-10**12, 10**12) / 100)))
        if kind == "UUID":
            return str(uuid.UUID(int=self.random.getrandbits(128))).upper()
        if kind == "URI":
            return self.turn(kind, ADDRESSES)
        if kind in BYTES:
            length = self.either(kind, LENGTHS, lambda: self.random.randint(0, 2000))
            return base64.b64encode(self.random.randbytes(length)).decode()
        assert kind == "String", kind
        return self.either(kind, TEXTS, lambda: "".join(
            self.random.choice("abc é日🙂\n") for _ in range(self.random.randint(1, 300))))

    def either(self, kind, edges, other):
        return self.turn(kind, edges) if self.random.random() < 0.7 else other()

    def long_value(self, kind):
        length = self.turn("long", LONG_LENGTHS)
        if kind in BYTES:
            return base64.b64encode(self.random.randbytes(length)).decode()
        return self.turn("long text", ["x", "é", "日\n", "🙂\""]) * (length // 2)

    def graph(self, objects, long_values):
        graph, entities = {}, self.model.concrete()
        for index in range(objects):
            entity = entities[index % len(entities)]
            made = self.model.new_object(entity)
            for name, what in self.model.attributes(entity).items():
                made["attributes"][name] = self.value(what)
            graph[self.name(entity)] = made
        self.lengthen(graph, long_values)
        for pair in self.model.pairs():
            self.connect_all(graph, *pair)
        return graph

    def lengthen(self, graph, count):
        places = [(what, name, kind["type"]) for what in graph.values()
                  for name, kind in self.model.attributes(what["entity"]).items()
                  if kind["type"] in LONG_KINDS]
        for what, name, kind in self.random.sample(places, min(count, len(places))):
            what["attributes"][name] = self.long_value(kind)

    def of_kind(self, graph, entity):
        kinds = set(self.model.concrete(entity))
        return [name for name, what in graph.items() if what["entity"] in kinds]

    def connect_all(self, graph, entity, name, other, _, what, back):
        firsts, seconds = self.of_kind(graph, entity), self.of_kind(graph, other)
        self.random.shuffle(firsts)
        self.random.shuffle(seconds)
        if what.get("many") and back.get("many"):
            for first in firsts:
                for second in self.random.sample(seconds, min(len(seconds),
                                                              self.random.randint(0, 3))):
                    connect(self.model, graph, first, name, second)
        elif what.get("many"):
            for second in seconds[: len(seconds) * 4 // 5]:
                connect(self.model, graph, self.random.choice(firsts), name, second)
        elif back.get("many"):
            for first in firsts[: len(firsts) * 4 // 5]:
                connect(self.model, graph, first, name, self.random.choice(seconds))
        else:
            for first, second in zip(firsts[: len(firsts) * 4 // 5], seconds):
                connect(self.model, graph, first, name, second)

    def edit(self, graph, changes):
        """Changes values and links. The result has the names of the objects that have changed."""
        touched, names = set(), sorted(graph)
        kinds = {entity: self.of_kind(graph, entity) for entity in self.model.entities}
        for _ in range(changes):
            name = self.random.choice(names)
            entity, links = graph[name]["entity"], graph[name]["links"]
            attributes = self.model.attributes(entity)
            if attributes and (not links or self.random.random() < 0.4):
                attribute = self.random.choice(sorted(attributes))
                graph[name]["attributes"][attribute] = self.value(attributes[attribute])
                touched.add(name)
                continue
            if not links:
                continue
            link = self.random.choice(sorted(links))
            there = others(links, link)
            if there and self.random.random() < 0.5:
                touched |= disconnect(self.model, graph, name, link, self.random.choice(there))
            else:
                to = self.model.relationships(entity)[link]["to"]
                touched |= connect(self.model, graph, name, link, self.random.choice(kinds[to]))
        return touched

    def remove(self, graph, count):
        """Removes some objects: their names, those of all that end with them, and those of objects
        that have changed."""
        chosen, removed, changed = [], set(), set()
        for name in self.random.sample(sorted(graph), count):
            if name in graph:
                chosen.append(name)
                more, touched = remove(self.model, graph, name)
                removed, changed = removed | more, changed | touched
        return chosen, removed, changed - removed


if __name__ == "__main__":
    chosen = Model(sys.argv[1])
    print(canonical(Generator(chosen, sys.argv[2]).graph(int(sys.argv[3]), 2)))
