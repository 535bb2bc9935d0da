"""Compares the JSON Schema of a record type with what the mount accepts, by an independent validator.

Usage: editor_schemas.py MOUNTPOINT DB/ZONE/TYPE MEMBERS [BASE]

Writes each value of a pool as each of the members (a JSON list of names) into a record of its own,
beside the members of BASE (a JSON object), and asks the validator about the same text. Prints each text about which they differ, and ends with
status 1 if there is any.
"""
import json
import os
import sys

from jsonschema import Draft202012Validator

UUID = "7b0c6d2e-4c0a-4b6e-9a55-0d3c1e2f4a5b"
PLACE = {"latitude": 48.1, "longitude": 11.6}
POOL = [
    # Fractions before truth values: a stored truth value prevents that a field takes fractions.
    None, 5, 1.5, True, False, 0, 1, 2, -1, 100, 40000, 3000000000, -0.25, 1e300,
    "", "a", "ab", "abc", "abcdef", "A1", "A12", "12", "-1.50", "1e3", "1.", "+1", ".5", UUID,
    UUID.upper(), UUID[:-1], "S1",
    "2026-11-20T10:00:00.000Z", "2026-11-20T10:00Z", "2026-11-20T10:00:00+01:00", "2026-11-20",
    "2026-11-20T10:00:00", "2026-13-20T10:00Z", "2026-11-20T24:00Z", "+012026-01-01T00:00Z",
    "2026-11-20 10:00Z", "2026-11-20T10:00:00.1234567890Z",
    "YQ==", "YWI=", "YWJj", "YQ=", "YR==", "YW Jj", "case@file.txt", "case@", "@file", "a/b@c.txt",
    [], [1], [1, 2.5], ["a"], ["a", "b"], [""], [True], [None], [1, "a"], ["a", None],
    [{"$timestamp": "2026-11-20T10:00Z"}], ["2026-11-20T10:00Z"], [{"$ref": "a"}],
    [{"$asset": "case@file.0.txt"}], [{"$x": 1}], [{"a": 1}], [{"a": {"$b": 1}}], [PLACE],
    {}, {"a": 1}, {"a": None, "b": [1, "x", {"c": []}]}, {"$a": 1}, {"a": {"$b": 1}}, {"a$": 1},
    {"$timestamp": "2026-11-20T10:00:00.000Z"}, {"$timestamp": 5}, {"$timestamp": "x"},
    {"$timestamp": "2026-11-20T10:00Z", "zone": "x"},
    {"$bytes": "YQ=="}, {"$bytes": "YQ"}, {"$bytes": 1},
    {"$location": PLACE}, {"$location": {"latitude": 91, "longitude": 0}},
    {"$location": {"latitude": 1}}, {"$location": {**PLACE, "altitude": None, "speed": 2}},
    {"$location": {**PLACE, "timestamp": "2026-11-20T10:00Z"}}, {"$location": {**PLACE, "up": 1}},
    PLACE, {**PLACE, "timestamp": "x"}, {**PLACE, "course": "x"}, {"latitude": -91, "longitude": 0},
    {"$ref": "a"}, {"$ref": ""}, {"$ref": "a", "action": "DELETE_SELF"},
    {"$ref": "a", "action": "delete"}, {"$ref": "a", "zone": None}, {"$ref": "a", "size": 1},
    {"$asset": "case@file.txt"}, {"$asset": "../x@file.txt"}, {"$asset": "file.txt"},
    {"$asset": "case@file.txt", "size": 5}, {"$asset": "case@file.txt", "size": -1},
    {"$asset": "case@file.txt", "size": None, "sha256": "ab"},
    {"$asset": "case@file.txt", "sha256": "ab" * 32},
]


def accepts(path, text):
    """Returns whether the mount saves the text. The record is there only for that."""
    try:
        with open(path, "w") as file:
            file.write(text)
        accepted = True
    except OSError:
        accepted = False
    os.unlink(path)
    return accepted


def main():
    mountpoint, place, members = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    base = json.loads(sys.argv[4]) if len(sys.argv) > 4 else {}
    schema_file = f"{mountpoint}/.recordfs/schema/{place}.schema.json"
    texts = [json.dumps({**base, member: value}) for member in members for value in POOL]
    texts += ["[]", "null", "{}", json.dumps({**base, "$parent": "a"}), '{"$parent": ""}', '{"$parent": 5}',
              '{"$schema": "x"}', '{"a-b": 1}', '{"_a": 1}', '{"": 1}']
    differences, accepted, known = [], 0, None
    for number, text in enumerate(texts):
        # Read for each text: what was saved before may have made a field.
        with open(schema_file) as file:
            content = file.read()
        if len(content.encode()) != os.stat(schema_file).st_size:
            differences.append(f"{number}: stat says another size")
        if content != known:
            Draft202012Validator.check_schema(json.loads(content))
            known, validator = content, Draft202012Validator(json.loads(content))
        valid = validator.is_valid(json.loads(text))
        saved = accepts(f"{mountpoint}/{place}/case{number}.json", text)
        accepted += saved
        if valid != saved:
            differences.append(f"{text}: the schema says {valid}, the mount {saved}")
    print("\n".join(differences))
    print(f"{len(texts)} texts, {accepted} accepted, {len(differences)} differences")
    return 1 if differences else 0


sys.exit(main())
