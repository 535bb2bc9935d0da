"""Reads the compiler's index of the package, and finds circles in a graph.

`scripts/structure` is the program. Each debug build writes the index. The toolchain's
libIndexStore.so reads it; its header is usr/local/include/indexstore/indexstore.h there.
"""
import ctypes
import json
import os
import random
import shutil
import subprocess
import time
from collections import Counter, defaultdict
from ctypes import c_bool, c_char_p, c_int, c_int64, c_size_t, c_uint, c_uint64, c_void_p

DEFINITION, REFERENCE, IMPLICIT = 1 << 1, 1 << 2, 1 << 8
CHILD_OF, OVERRIDE_OF, EXTENDED_BY = 1 << 9, 1 << 11, 1 << 14
RECORD = 2  # the kind of a unit's dependency that has the occurrences of a file
TYPES = {5: "enum", 6: "struct", 7: "class", 8: "protocol"}
MODULE, EXTENSION, PARAMETER = 1, 9, 25
# Accessors, whose property or subscript is recorded too, and the parameters of generics.
PARTS = {3, 4, *range(1000, 1004), 1013, *range(1014, 1019)}
ATTEMPTS, PAUSE = 4, 0.5


class Unreadable(Exception):
    """The reason why there is nothing to measure."""


class Text(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("length", c_size_t)]

    def __str__(self):
        return ctypes.string_at(self.data, self.length).decode("utf-8", "replace")


CALLBACK = ctypes.CFUNCTYPE(c_bool, c_void_p, c_void_p)
NAME_CALLBACK = ctypes.CFUNCTYPE(c_bool, c_void_p, Text)
# function: result, arguments
FUNCTIONS = {
    "error_get_description": (c_char_p, c_void_p),
    "error_dispose": (None, c_void_p),
    "store_create": (c_void_p, c_char_p, c_void_p),
    "store_dispose": (None, c_void_p),
    "store_units_apply_f": (c_bool, c_void_p, c_uint, c_void_p, NAME_CALLBACK),
    "unit_reader_create": (c_void_p, c_void_p, c_char_p, c_void_p),
    "unit_reader_dispose": (None, c_void_p),
    "unit_reader_get_main_file": (Text, c_void_p),
    "unit_reader_get_modification_time": (None, c_void_p, c_void_p, c_void_p),
    "unit_reader_dependencies_apply_f": (c_bool, c_void_p, c_void_p, CALLBACK),
    "unit_dependency_get_kind": (c_int, c_void_p),
    "unit_dependency_get_name": (Text, c_void_p),
    "record_reader_create": (c_void_p, c_void_p, c_char_p, c_void_p),
    "record_reader_dispose": (None, c_void_p),
    "record_reader_occurrences_apply_f": (c_bool, c_void_p, c_void_p, CALLBACK),
    "occurrence_get_symbol": (c_void_p, c_void_p),
    "occurrence_get_roles": (c_uint64, c_void_p),
    "occurrence_relations_apply_f": (c_bool, c_void_p, c_void_p, CALLBACK),
    "symbol_relation_get_roles": (c_uint64, c_void_p),
    "symbol_relation_get_symbol": (c_void_p, c_void_p),
    "symbol_get_kind": (c_int, c_void_p),
    "symbol_get_subkind": (c_int, c_void_p),
    "symbol_get_name": (Text, c_void_p),
    "symbol_get_usr": (Text, c_void_p),
}


class Library:
    """libIndexStore.so, its functions without the prefix."""

    def __init__(self, path):
        library = ctypes.CDLL(path)
        for name, (result, *arguments) in FUNCTIONS.items():
            function = getattr(library, "indexstore_" + name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)

    def open(self, create, *arguments):
        """Calls one of the functions that return an object or an error."""
        error = c_void_p()
        result = create(*arguments, ctypes.byref(error))
        if result:
            return result
        reason = self.error_get_description(error) if error else b"no reason given"
        if error:
            self.error_dispose(error)
        raise Unreadable(reason.decode("utf-8", "replace"))


def library_path():
    """Finds libIndexStore.so beside the `swift` of the path."""
    swift = shutil.which("swift")
    if not swift:
        raise Unreadable("there is no swift in PATH: install the toolchain")
    beside = os.path.join(os.path.dirname(os.path.realpath(swift)), "../lib/libIndexStore.so")
    if not os.path.exists(beside):
        # The swift of a version manager stands elsewhere, and knows where.
        told = subprocess.run([swift, "-print-target-info"], capture_output=True, text=True)
        try:
            resources = json.loads(told.stdout)["paths"]["runtimeResourcePath"]
        except (ValueError, KeyError):
            resources = ""
        beside = os.path.join(os.path.dirname(resources), "libIndexStore.so")
    if not os.path.exists(beside):
        raise Unreadable(f"the toolchain of {swift} has no libIndexStore.so")
    return os.path.normpath(beside)


class Store:
    """An index store, as a build writes it."""

    def __init__(self, path):
        self.library = Library(library_path())
        self.handle = self.library.open(self.library.store_create, os.fsencode(path))

    def close(self):
        self.library.store_dispose(self.handle)

    def units(self):
        names = []

        def note(_, name):
            names.append(str(name))
            return True

        self.library.store_units_apply_f(self.handle, 0, None, NAME_CALLBACK(note))
        return names

    def unit(self, name, wanted):
        """Returns (main file, time of the unit, names of its records), or None for another file."""
        library = self.library
        reader = library.open(library.unit_reader_create, self.handle, name.encode())
        try:
            main = wanted(str(library.unit_reader_get_main_file(reader)))
            if not main:
                return None
            seconds, nanoseconds, records = c_int64(), c_int64(), []

            def note(_, dependency):
                if library.unit_dependency_get_kind(dependency) == RECORD:
                    records.append(str(library.unit_dependency_get_name(dependency)))
                return True

            library.unit_reader_get_modification_time(
                reader, ctypes.byref(seconds), ctypes.byref(nanoseconds))
            library.unit_reader_dependencies_apply_f(reader, None, CALLBACK(note))
            return main, seconds.value + nanoseconds.value / 1e9, records
        finally:
            library.unit_reader_dispose(reader)

    def occurrences(self, record):
        """Returns (symbol, roles, [(role, symbol)]) for each occurrence of a record; a symbol is
        (USR, kind, subkind, name)."""
        library, found, symbols = self.library, [], {}
        reader = library.open(library.record_reader_create, self.handle, record.encode())

        def symbol(pointer):
            if pointer not in symbols:
                symbols[pointer] = (
                    str(library.symbol_get_usr(pointer)), library.symbol_get_kind(pointer),
                    library.symbol_get_subkind(pointer), str(library.symbol_get_name(pointer)))
            return symbols[pointer]

        relations = []

        def note_relation(_, relation):
            relations.append((library.symbol_relation_get_roles(relation),
                              symbol(library.symbol_relation_get_symbol(relation))))
            return True

        each_relation = CALLBACK(note_relation)

        def note(_, occurrence):
            roles = library.occurrence_get_roles(occurrence)
            if not roles & IMPLICIT:
                relations.clear()
                if roles & (CHILD_OF | OVERRIDE_OF | EXTENDED_BY):
                    library.occurrence_relations_apply_f(occurrence, None, each_relation)
                found.append((symbol(library.occurrence_get_symbol(occurrence)), roles,
                              tuple(relations)))
            return True

        try:
            library.record_reader_occurrences_apply_f(reader, None, CALLBACK(note))
        finally:
            library.record_reader_dispose(reader)
        return found


def find_files(sources):
    """Returns {module: its files, as paths from Sources}."""
    files = defaultdict(list)
    for folder, folders, names in os.walk(sources):
        folders.sort()
        for name in sorted(names):
            path = os.path.relpath(os.path.join(folder, name), sources)
            if name.endswith(".swift") and os.sep in path:
                files[path.split(os.sep)[0]].append(path)
    return dict(files)


class Package:
    """What the files in Sources declare and use.

    A use that only the compiler wrote does not count: the getter of a property, the initializer of
    a literal, the members that fulfil a conformance which another file states. The index does not
    have the type of `do throws(T)`.
    """

    def __init__(self, sources, files):
        self.sources, self.files = sources, files  # module: its files, as paths from Sources
        self.missing, self.newer = [], []  # files that the index does not have, or has as they were
        self.declared = {}  # USR: file
        self.names = {}  # USR: (USR of what it is in, name)
        self.kinds = {}  # USR: kind, of types
        self.parts = defaultdict(set)  # USR of a type: files that declare or extend it
        self.used = defaultdict(Counter)  # file: {USR: times}

    def read(self, store_path):
        """Reads the index; tries again when a build changes it meanwhile."""
        for attempt in range(ATTEMPTS):
            store = Store(store_path)
            try:
                units, contents, failures = self.contents(store)
            finally:
                store.close()
            if not failures:
                break
            time.sleep(PAUSE)
        for module in self.files:
            for file in self.files[module]:
                if file not in contents:
                    self.missing.append(file)
                elif os.stat(os.path.join(self.sources, file)).st_mtime > units[file][0]:
                    self.newer.append(file)
        for file, occurrences in contents.items():
            self.note(file, occurrences)

    def contents(self, store):
        """Returns ({file: (time, records)}, {file: occurrences}, how much could not be read)."""
        wanted = {file for files in self.files.values() for file in files}

        def known(path):
            if f"{os.sep}Sources{os.sep}" not in path:
                return None
            file = os.path.relpath(os.path.realpath(path), self.sources)
            return file if file in wanted else None

        newest, contents, failures = {}, {}, 0
        for name in store.units():
            try:
                unit = store.unit(name, known)
            except Unreadable:
                failures += 1
                continue
            if unit and unit[1] > newest.get(unit[0], (0,))[0]:
                newest[unit[0]] = unit[1:]
        for file in sorted(newest):
            try:
                contents[file] = [found for record in newest[file][1]
                                  for found in store.occurrences(record)]
            except Unreadable:
                failures += 1
        return newest, contents, failures

    def note(self, file, occurrences):
        extended = {}
        for (usr, kind, subkind, name), roles, relations in occurrences:
            if roles & EXTENDED_BY:
                extended.update((symbol[0], usr) for role, symbol in relations
                                if role & EXTENDED_BY)
                self.names.setdefault(usr, (None, name))
        for (usr, kind, subkind, name), roles, relations in occurrences:
            if kind in (MODULE, PARAMETER, EXTENSION) or subkind in PARTS:
                continue
            if not roles & DEFINITION:
                if roles & REFERENCE:
                    self.used[file][usr] += 1
                continue
            self.declared[usr] = file
            parent = None
            for role, symbol in relations:
                if role & CHILD_OF:
                    parent = extended.get(symbol[0], symbol[0])
                    if symbol[0] in extended:
                        self.parts[parent].add(file)
                elif role & OVERRIDE_OF:
                    self.used[file][symbol[0]] += 1
            self.names[usr] = (parent, name)
            if kind in TYPES:
                self.kinds[usr] = TYPES[kind]
                self.parts[usr].add(file)

    def name(self, usr):
        parent, name = self.names[usr]
        return f"{self.name(parent)}.{name}" if parent in self.names else name

    def edges(self, module):
        """Returns {file: {file that it uses: {USR: times}}} of a module."""
        inside = set(self.files[module])
        graph = {file: {} for file in self.files[module]}
        for file in self.files[module]:
            for usr, times in self.used[file].items():
                target = self.declared.get(usr)
                if target in inside and target != file:
                    graph[file].setdefault(target, {})[usr] = times
        return graph


def circles(graph):
    """Returns the strongly connected components of {node: nodes}, the largest first (Tarjan)."""
    order, low, stack, waiting, found = {}, {}, [], set(), []

    def enter(node):
        order[node] = low[node] = len(order)
        stack.append(node)
        waiting.add(node)
        path.append((node, iter(graph[node])))

    for start in graph:
        if start in order:
            continue
        path = []
        enter(start)
        while path:
            node, targets = path[-1]
            for target in targets:
                if target not in order:
                    enter(target)
                    break
                if target in waiting:
                    low[node] = min(low[node], order[target])
            else:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[node])
                if low[node] == order[node]:
                    first = stack.index(node)
                    found.append(sorted(stack[first:]))
                    waiting.difference_update(stack[first:])
                    del stack[first:]
    return sorted(found, key=lambda circle: (-len(circle), circle))


def largest(graph):
    """Returns the members of the largest circle; a node alone is none."""
    found = circles(graph)
    return found[0] if found and len(found[0]) > 1 else []


def part(graph, nodes):
    """Returns the graph of these nodes only."""
    inside = set(nodes)
    return {a: {b: graph[a][b] for b in graph[a] if b in inside} for a in nodes}


def pivots(graph, limit, count):
    """Returns [(node, size of the largest circle without it)]: each time the node whose removal
    shrinks the largest circle the most, until that has at most `limit` nodes."""
    chosen, rest = [], largest(graph)
    while len(rest) > limit and len(chosen) < count:
        inside = part(graph, rest)
        without = {a: largest(part(inside, [b for b in rest if b != a])) for a in rest}
        best = min(rest, key=lambda a: (len(without[a]), a))
        rest = without[best]
        chosen.append((best, len(rest)))
    return chosen


class Cutter:
    """Looks for light edges whose removal leaves circles of at most `limit` nodes.

    It puts the nodes in an order in which the edges that go back are light, parts that order where
    few of them cross, and takes each crossing edge back that is not needed. It does so from many
    beginnings, and keeps the lightest result. The weight of an edge is its number of symbols.
    """

    TRIES, ROUND, MOVES = 240, 12, 6

    def __init__(self, graph, limit):
        self.graph, self.limit = part(graph, largest(graph)), limit
        self.weight = {a: {b: len(used) for b, used in to.items()} for a, to in self.graph.items()}
        self.into = {a: {} for a in self.graph}
        for a, to in self.weight.items():
            for b, weight in to.items():
                self.into[b][a] = weight

    def cuts(self):
        """Returns [(node, node)], the lightest first. It is the same each time."""
        if len(self.graph) <= self.limit:
            return []
        chance = random.Random(1)
        best, best_order = None, None
        for number in range(self.TRIES):
            if number % self.ROUND == 0:
                order = sorted(self.graph)
                chance.shuffle(order)
            else:
                order = list(best_order)
                for _ in range(self.MOVES):
                    node = order.pop(chance.randrange(len(order)))
                    order.insert(chance.randrange(len(order) + 1), node)
            order = self.settled(order)
            kept = self.needed(self.crossing(order))
            cost = (sum(self.weight[a][b] for a, b in kept), len(kept))
            if best is None or cost < best[0]:
                best, best_order = (cost, kept), order
        return sorted(best[1], key=lambda edge: (self.weight[edge[0]][edge[1]], edge))

    def settled(self, order):
        """Moves each node to where the least weight goes back, until none moves."""
        moved = True
        while moved:
            moved = False
            for node in self.graph:
                place = order.index(node)
                others = order[:place] + order[place + 1:]
                cost = sum(self.into[node].values())
                costs = [cost]
                for other in others:
                    cost += self.weight[node].get(other, 0) - self.into[node].get(other, 0)
                    costs.append(cost)
                better = min(range(len(costs)), key=costs.__getitem__)
                if costs[better] < costs[place]:
                    order = others[:better] + [node] + others[better:]
                    moved = True
        return order

    def crossing(self, order):
        """Parts the order into runs of at most `limit` nodes with the least weight that goes back
        from one to another. Returns those edges."""
        place = {node: number for number, node in enumerate(order)}
        back = [[] for _ in order]  # for each place the edges that go back to it
        for a, to in self.weight.items():
            for b, weight in to.items():
                if place[b] < place[a]:
                    back[place[b]].append((place[a], weight))
        inside, begin = [0], [0]  # for the first n nodes: weight within runs, begin of the last
        for end in range(1, len(order) + 1):
            options, within = [], 0
            for start in range(end - 1, max(0, end - self.limit) - 1, -1):
                within += sum(weight for high, weight in back[start] if high < end)
                options.append((inside[start] + within, start))
            most, start = max(options)
            inside.append(most)
            begin.append(start)
        run, end = {}, len(order)
        while end:
            for number in range(begin[end], end):
                run[order[number]] = begin[end]
            end = begin[end]
        return [(a, b) for a, to in self.weight.items() for b in to if run[b] < run[a]]

    def needed(self, edges):
        """Takes back the edges that are not needed, the heaviest first. Returns the others."""
        graph = {a: set(to) for a, to in self.graph.items()}
        for a, b in edges:
            graph[a].discard(b)
        kept = []
        for a, b in sorted(edges, key=lambda edge: (-self.weight[edge[0]][edge[1]], edge)):
            graph[a].add(b)
            if len(largest(graph)) > self.limit:
                graph[a].discard(b)
                kept.append((a, b))
        return kept


def without(graph, edges):
    """Returns the graph without these edges."""
    removed = set(edges)
    return {a: {b: used for b, used in to.items() if (a, b) not in removed}
            for a, to in graph.items()}


def self_test():
    """Tests the functions on small graphs and on a small index. Raises AssertionError."""
    def graph(text):
        nodes = {node: {} for node in text.replace(" ", "").replace("-", "")}
        for edge in text.split():
            for a, b in zip(edge, edge[1:]):
                nodes[a][b] = {"symbol": 1}
        return nodes

    def check(name, found, expected):
        if found != expected:
            raise AssertionError(f"{name}: {found}, not {expected}")

    check("no node", circles({}), [])
    check("a chain", circles(graph("abc")), [["a"], ["b"], ["c"]])
    check("a node that uses itself", largest({"a": {"a": {}}}), [])
    check("two circles and a bridge", circles(graph("abca cd defd g")),
          [["a", "b", "c"], ["d", "e", "f"], ["g"]])
    check("circles that share a node", circles(graph("aba aca")), [["a", "b", "c"]])
    check("an eight with a tail before and after", largest(graph("xabca cdec ey")),
          ["a", "b", "c", "d", "e"])
    check("an edge to a circle that is closed", largest(graph("aba cab dc")), ["a", "b"])
    deep = {number: {number + 1: {}} for number in range(5000)} | {5000: {0: {}}}
    check("a long circle", len(largest(deep)), 5001)

    ring = graph("abcda efghe ae ea")
    ring["a"]["e"] = {"one": 1, "two": 1}
    check("the light edge between two rings", Cutter(ring, 4).cuts(), [("e", "a")])
    check("what it leaves", len(largest(without(ring, [("e", "a")]))), 4)
    check("nothing to cut", Cutter(ring, 8).cuts(), [])
    check("the node of all circles", pivots(graph("aba aca ada"), 1, 6), [("a", 0)])

    # A.swift declares A; B.swift extends it; C.swift uses what the extension has, and fulfils P.
    package = Package("", {"M": ["M/A.swift", "M/B.swift", "M/C.swift"]})
    a, more, extension = ("a", 6, 0, "A"), ("a.more", 16, 0, "more()"), ("e", EXTENSION, 1004, "A")
    need, meet = ("p.need", 16, 0, "need()"), ("c.need", 16, 0, "need()")
    package.note("M/A.swift", [
        (a, DEFINITION, ()), (("p", 8, 0, "P"), DEFINITION, ()),
        (need, DEFINITION, ((CHILD_OF, ("p", 8, 0, "P")),))])
    package.note("M/B.swift", [
        (extension, DEFINITION, ()), (a, REFERENCE | EXTENDED_BY, ((EXTENDED_BY, extension),)),
        (more, DEFINITION, ((CHILD_OF, extension),)),
        (("x", PARAMETER, 0, "x"), DEFINITION, ((CHILD_OF, more),))])
    package.note("M/C.swift", [
        (more, REFERENCE, ()), (more, REFERENCE, ()), (("e2", EXTENSION, 1004, "A"), DEFINITION, ()),
        (meet, DEFINITION, ((OVERRIDE_OF, need),))])
    check("edges", package.edges("M"), {
        "M/A.swift": {}, "M/B.swift": {"M/A.swift": {"a": 1}},
        "M/C.swift": {"M/B.swift": {"a.more": 2}, "M/A.swift": {"p.need": 1}}})
    check("files of a type", package.parts["a"], {"M/A.swift", "M/B.swift"})
    check("names", [package.name(usr) for usr in ("a.more", "p.need")], ["A.more()", "P.need()"])
