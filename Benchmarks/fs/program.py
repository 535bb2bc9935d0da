"""The options that the benchmarks of one program have, and that program."""

import argparse
import json
import os

import report


def options(quick, full):
    """The arguments. `quick` and `full` are the numbers of records and rounds without --records and --rounds."""
    parser = argparse.ArgumentParser()
    for option in ("--root", "--work", "--run"):
        parser.add_argument(option, required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--records", type=int)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--recordfs")
    parser.add_argument("--json")
    found = parser.parse_args()
    records, rounds = quick if found.quick else full
    found.records = found.records or records
    found.rounds = found.rounds or rounds
    return found


def program(found):
    """recordfs as it was built: a debug build does for --quick."""
    path = found.recordfs or os.path.join(found.root, ".build/release/recordfs")
    if found.quick and not found.recordfs and not os.path.exists(path):
        path = os.path.join(found.root, ".build/debug/recordfs")
    return os.path.abspath(path)


def show(found, title, result, goals, subject):
    """Prints the table of seconds and the goals, and writes --json."""
    machine = report.machine(found.work)
    print(", ".join(f"{key}: {value}" for key, value in machine.items()))
    print(title + "\n")
    report.table(["", "seconds"], [
        [key, report.number(value, 3)] for key, value in result.items() if "ratio" not in key])
    print()
    report.print_goals({"recordfs": goals}, {"recordfs": subject})
    if found.json:
        with open(found.json, "w") as file:
            json.dump({"machine": machine, "seconds": result}, file, indent=2)
            file.write("\n")
