"""Measures file systems side by side; see scripts/bench."""

import argparse
import json
import os
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import measure
import report
import subjects


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/bench fs")
    for name in ("root", "work", "run"):
        parser.add_argument("--" + name, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--records", type=int)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--subjects")
    parser.add_argument("--recordfs")
    parser.add_argument("--json")
    parser.add_argument("--markdown")
    options = parser.parse_args()
    options.records = options.records or (500 if options.quick else 10_000)
    options.rounds = options.rounds or (1 if options.quick else 5)
    options.large_records = 10_000 if options.quick else 1_000_000
    return options


def chosen(options):
    known = {kind.name: kind for kind in subjects.ALL}
    names = list(known)
    if options.subjects:
        names = options.subjects.split(",")
    elif options.quick:
        names = [name for name in names if name not in ("juicefs", "rclone")]
    unknown = set(names) - set(known)
    if unknown:
        raise subjects.Failure(f"no subject called {', '.join(sorted(unknown))}")
    subjects.RecordFS.program = os.path.abspath(options.recordfs or built(options))
    found = [known[name](options.work, options.run, 300) for name in names]
    for subject in found:
        subject.install()
    return found


def built(options):
    """What `swift build` has made; a debug build will do only to show that the benchmark runs."""
    kinds = ["release", "debug"] if options.quick else ["release"]
    paths = [os.path.join(options.root, ".build", kind, "recordfs") for kind in kinds]
    return next(filter(os.path.exists, paths), paths[0])


def small(options, found, driver):
    results = {subject.name: [] for subject in found}
    for turn in range(options.rounds):
        for subject in found:
            print(f"round {turn + 1} of {options.rounds}: {subject.title}", flush=True)
            results[subject.name].append(
                measure.turn(subject, driver, options.records, turn))
    return results


def large(options, found, driver):
    results = {}
    for subject in found:
        if subject.name not in ("floor", "recordfs"):
            continue
        pair = []
        for count in (options.records, options.large_records):
            print(f"{count} records: {subject.title}", flush=True)
            pair.append(measure.large_turn(subject, driver, count, options.run))
        results[subject.name] = pair
    return results


def main():
    options = arguments()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(143))
    found = chosen(options)
    titles = {subject.name: subject.title for subject in found}
    driver = measure.Driver(options.work, 300)
    result = {"machine": report.machine(options.work), "records": options.records}
    result["rounds"] = small(options, found, driver)
    if options.large:
        result["large"] = large(options, found, driver)
        result["large records"] = options.large_records
    show(options, result, titles)
    if options.markdown:
        with open(options.markdown, "w") as file:
            file.write(report.markdown(result, titles, options))
    if options.json:
        with open(options.json, "w") as file:
            json.dump(result, file, indent=2)
            file.write("\n")


def show(options, result, titles):
    rounds = result["rounds"]
    print()
    print(", ".join(f"{key}: {value}" for key, value in result["machine"].items()))
    print(f"{options.records} files of 300 bytes, {options.rounds} rounds\n")
    report.print_rows(rounds, titles)
    result["medians"] = {
        name: {row: report.median(turns, row) for row in [*measure.ROWS, "memory"]}
        for name, turns in rounds.items()
    }
    names = [name for name in rounds if name.startswith("recordfs")]
    goals = {name: report.goals(rounds, name) for name in names}
    if "large" in result:
        report.print_large(result["large"], titles, options.large_records)
        for name in names:
            goals[name] = goals[name] + report.large_goals(result["large"], name)
    report.print_goals(goals, titles)
    result["goals"] = [
        {"subject": name, "goal": what, "value": value, "limit": limit, "met": value <= limit}
        for name, entries in goals.items() for what, value, limit in entries
    ]


try:
    main()
except subjects.Failure as failure:
    sys.exit(f"bench: {failure}")
except KeyboardInterrupt:
    sys.exit(130)
