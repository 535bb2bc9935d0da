"""Checks what commands print with --json against the vocabulary of output.schema.json.

Usage: check_output.py NAME < OUTPUT       (the command's name, for the messages)
OUTPUT is one JSON value, or one a line. Prints what differs, and its number; the status is then 1.
"""
import json
import sys
from pathlib import Path

from jsonschema import Draft202012Validator

schema = json.loads(Path(__file__).with_name("output.schema.json").read_text())
Draft202012Validator.check_schema(schema)
object_schema = {"$ref": "#/$defs/object", "$defs": schema["$defs"]}
validator = Draft202012Validator(object_schema)


def values(text):
    try:
        return [json.loads(text)]
    except ValueError:
        return [json.loads(line) for line in text.splitlines() if line]


def leaves(error):
    """The reasons at the bottom: an error of a nested value says only that the whole is wrong."""
    if not error.context:
        yield error
    deepest = max((len(part.absolute_path) for part in error.context), default=0)
    for part in error.context:
        if len(part.absolute_path) == deepest:
            yield from leaves(part)


found = values(sys.stdin.read())
objects = [part for value in found for part in (value if isinstance(value, list) else [value])]
problems = {
    f"{'.'.join(map(str, leaf.absolute_path))}: {leaf.message[:200]}"
    for value in objects for error in validator.iter_errors(value) for leaf in leaves(error)
}
for problem in sorted(problems):
    print(f"{sys.argv[1]}: {problem}")
print(f"{sys.argv[1]}: {len(objects)} objects, {len(problems)} problems")
sys.exit(1 if problems or not objects else 0)
