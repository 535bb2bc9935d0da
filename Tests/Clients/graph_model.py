"""Object models in the JSON form of `recordfs model export`, and graphs of their objects.

A graph is a dictionary: the name of each object -> {"entity", "attributes", "links"}. Values of
attributes are those of JSON: a Decimal is a text, a Date its milliseconds since 1970, Binary and
Transformable are base 64. A to-one link is a name or None, a to-many link a sorted list of names.
"""

import hashlib
import json

INTEGERS = {"Integer 16": 15, "Integer 32": 31, "Integer 64": 63}
BYTES = ("Binary", "Transformable")
LONG_KINDS = ("String", *BYTES)
SHOWN = 2000


class Model:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.entities = json.load(file)["entities"]
        self.name = path.rsplit("/", 1)[-1].removesuffix(".json")

    def lineage(self, entity):
        """The entity, its parent, and so on."""
        names = []
        while entity:
            names.append(entity)
            entity = self.entities[entity].get("parent")
        return names

    def root(self, entity):
        return self.lineage(entity)[-1]

    def concrete(self, entity=None):
        """The entities with objects; with an argument those that are of this kind."""
        return [name for name, what in self.entities.items() if not what.get("abstract")
                and (entity is None or entity in self.lineage(name))]

    def members(self, entity, kind):
        found = {}
        for name in self.lineage(entity):
            found.update(self.entities[name].get(kind, {}))
        return found

    def attributes(self, entity):
        return {name: what for name, what in self.members(entity, "attributes").items()
                if not what.get("transient")}

    def relationships(self, entity):
        return self.members(entity, "relationships")

    def pairs(self):
        """Each relationship with its inverse once: (entity, name, entity, name, what, what)."""
        seen = set()
        for entity, properties in self.entities.items():
            for name, what in properties.get("relationships", {}).items():
                other, inverse = what["to"], what["inverse"]
                if (entity, name) in seen:
                    continue
                seen.update([(entity, name), (other, inverse)])
                back = self.entities[other]["relationships"][inverse]
                yield entity, name, other, inverse, what, back

    def new_object(self, entity):
        return {"entity": entity,
                "attributes": {name: None for name in self.attributes(entity)},
                "links": {name: [] if what.get("many") else None
                          for name, what in self.relationships(entity).items()}}


def others(links, link):
    """The names to which a link leads."""
    to = links[link]
    return list(to) if isinstance(to, list) else [to] if to is not None else []


def connect(model, graph, first, name, second):
    """Links two objects on both sides, and frees former partners of to-one links.

    The result has the names of the objects that have changed."""
    inverse = model.relationships(graph[first]["entity"])[name]["inverse"]
    changed = set()
    for owner, link, other, back in ((first, name, second, inverse),
                                     (second, inverse, first, name)):
        links = graph[owner]["links"]
        if other in others(links, link):
            continue
        changed.add(owner)
        if isinstance(links[link], list):
            links[link] = sorted([*links[link], other])
        else:
            if links[link] is not None:
                changed |= disconnect(model, graph, owner, link, links[link])
            links[link] = other
    return changed


def disconnect(model, graph, first, name, second):
    inverse = model.relationships(graph[first]["entity"])[name]["inverse"]
    for owner, link, other in ((first, name, second), (second, inverse, first)):
        links = graph[owner]["links"]
        if isinstance(links[link], list):
            links[link] = [one for one in links[link] if one != other]
        elif links[link] == other:
            links[link] = None
    return {first, second}


def remove(model, graph, name):
    """Removes an object by the delete rules.

    The result has the names of all removed objects, and of others that have changed."""
    removed, changed = set(), set()
    what = graph[name]
    for link, relationship in model.relationships(what["entity"]).items():
        for other in others(what["links"], link):
            changed |= disconnect(model, graph, name, link, other)
            if relationship.get("onDelete") == "Cascade" and other in graph and other != name:
                more, touched = remove(model, graph, other)
                removed, changed = removed | more, changed | touched
    graph.pop(name, None)
    removed.add(name)
    return removed, changed - removed


def shortened(value):
    """The value, or what tells a long one from others."""
    if isinstance(value, str) and len(value) > SHOWN:
        digest = hashlib.sha256(value.encode()).hexdigest()
        return f"{value[:20]}... {len(value)} characters, SHA-256 {digest}"
    return value


def canonical(graph):
    """The graph as a text that equal graphs have in common."""
    shown = {name: {**what, "attributes": {key: shortened(value)
                                           for key, value in what["attributes"].items()}}
             for name, what in graph.items()}
    return json.dumps(shown, indent=1, sort_keys=True, ensure_ascii=True)


def differences(expected, found):
    """A line for each value that differs, by name."""
    lines = []
    for name in sorted({*expected, *found}):
        if name not in found or name not in expected:
            side = "missing" if name in expected else "unexpected"
            lines.append(f"{name}: {side}, {(expected.get(name) or found.get(name))['entity']}")
            continue
        first, second = expected[name], found[name]
        if first["entity"] != second["entity"]:
            lines.append(f"{name}: {first['entity']} is {second['entity']}")
            continue
        for kind in ("attributes", "links"):
            for key in sorted({*first[kind], *second[kind]}):
                one, two = (repr(side[kind].get(key, "nothing")) for side in (first, second))
                if one != two:
                    lines.append(f"{name}: {first['entity']}.{key}: {shortened(one)} expected, "
                                 f"{shortened(two)} found")
    return lines
