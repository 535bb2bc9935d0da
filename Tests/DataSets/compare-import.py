"""Compares what an import made of a data set with the data set, value by value.

Usage: compare-import.py SOURCE EXPORT
SOURCE is a JSON file, a CSV file or a directory of JSON files, read here by Python's own readers;
EXPORT is the NDJSON that `recordfs export` wrote. Every row must be there exactly once, with every
value; what differs is printed, and the status is then 1.
"""
import csv
import json
import os
import re
import sys
from collections import Counter

NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")


def field_name(key):
    if re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", key):
        return key
    raw = key.strip(" ").encode()
    name = "".join(chr(b) if re.match(rb"[A-Za-z0-9]", bytes([b])) else "_" for b in raw)
    return name if name[:1].isalpha() else "f_" + name


def json_rows(value):
    """The rows of a JSON document: an array, or the one array of objects in an object."""
    if isinstance(value, list):
        return value
    arrays = [v for v in value.values() if isinstance(v, list)]
    if len(arrays) == 1 and any(isinstance(v, dict) for v in arrays[0]):
        return arrays[0]
    if all(isinstance(v, dict) for v in value.values()):
        return list(value.values())
    return [value]


def csv_rows(path):
    with open(path, newline="", encoding="utf-8-sig") as file:
        dialect = csv.Sniffer().sniff(file.readline(), delimiters=",;\t|")
        file.seek(0)
        header, *rows = [row for row in csv.reader(file, delimiter=dialect.delimiter) if row]
    columns = [[row[i] for row in rows if i < len(row) and row[i]] for i in range(len(header))]
    numeric = [bool(c) and all(NUMBER.fullmatch(v) for v in c) for c in columns]
    return [
        {
            key: json.loads(cell) if is_number else cell
            for key, cell, is_number in zip(header, row, numeric)
            if cell
        }
        for row in rows
    ]


def source_rows(path):
    if os.path.isdir(path):
        rows = []
        for name in sorted(os.listdir(path)):
            if name.endswith(".json"):
                with open(os.path.join(path, name), encoding="utf-8") as file:
                    rows.append(json.load(file))
        return rows
    if path.endswith(".json"):
        with open(path, encoding="utf-8") as file:
            return json_rows(json.load(file))
    return csv_rows(path)


def plain(value):
    """1 and 1.0 are one number; null is no value."""
    if isinstance(value, dict):
        return {key: plain(v) for key, v in value.items()}
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    return value


# Python's reader of CSV does not tell an empty text ("") from no value.
nothing = (None, "") if sys.argv[1].endswith(".csv") else (None,)


def canonical(row):
    members = {field_name(key): plain(v) for key, v in row.items() if v not in nothing}
    return json.dumps(members, sort_keys=True)


wanted = Counter(canonical(row) for row in source_rows(sys.argv[1]))
with open(sys.argv[2], encoding="utf-8") as file:
    found = Counter()
    for line in file:
        row = json.loads(line)
        del row["$name"]
        found[canonical(row)] += 1
for row in list(wanted - found)[:3]:
    print("missing:", row[:600])
for row in list(found - wanted)[:3]:
    print("too much:", row[:600])
print(sum(wanted.values()), "rows in the source,", sum(found.values()), "in the export")
sys.exit(wanted != found or not wanted)
