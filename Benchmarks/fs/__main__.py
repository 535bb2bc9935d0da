"""Measures file systems side by side; see scripts/bench."""

import argparse
import json
import os
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import measure
import report
import requests
import subjects


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/bench fs")
    for name in ("root", "work", "run"):
        parser.add_argument("--" + name, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--requests", action="store_true", dest="only_requests")
    parser.add_argument("--records", type=int)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--subjects")
    parser.add_argument("--recordfs")
    parser.add_argument("--before")
    parser.add_argument("--attached", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("--markdown")
    options = parser.parse_args()
    # Two builds are compared in many short rounds: within a long one the machine changes its speed.
    long = (1_000, 20) if options.before else (10_000, 5)
    records, rounds = (500, 1) if options.quick else long
    options.records = options.records or records
    options.rounds = options.rounds or rounds
    options.counted_files = 300
    options.large_records = 10_000 if options.quick else 1_000_000
    return options


def chosen(options):
    known = {kind.name: kind for kind in subjects.ALL}
    names = [name for name in known if name not in ("before", "attached")]
    if options.subjects:
        names = options.subjects.split(",")
    elif options.before:
        names = ["floor", "recordfs"]
    elif options.quick:
        names = [name for name in names if name not in ("juicefs", "rclone")]
    if options.attached:
        names.insert(names.index("recordfs") + 1, "attached")
    if options.before:
        names.insert(names.index("recordfs") + 1, "before")
        subjects.Before.program = os.path.abspath(options.before)
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
    source = measure.Source(driver, options.run, options.records)
    results = {subject.name: [] for subject in found}
    for turn in range(options.rounds):
        # Nobody is always the first, nor always behind the same one.
        for subject in reversed(found) if turn % 2 else found:
            print(f"round {turn + 1} of {options.rounds}: {subject.title}", flush=True)
            results[subject.name].append(
                measure.turn(subject, driver, source, turn))
    return results


def counted(options, found, driver):
    """Requests by subject; the disk's own file system has none."""
    source = measure.Source(driver, options.run, options.counted_files)
    results = {}
    for subject in found:
        if subject.name not in ("home", "recordfs-private"):
            print(f"counting requests: {subject.title}", flush=True)
            results[subject.name] = requests.measure(subject, source, options.run)
    return results


def large(options, found, driver):
    source = measure.Source(driver, options.run, options.counted_files)
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
    result["requests"] = counted(options, found, driver)
    if not options.only_requests:
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
    missed = [goal for goal in result["goals"] if goal["is a count"] and not goal["met"]]
    if missed:
        raise subjects.Failure("more requests than the goal; see the table above")


def show(options, result, titles):
    """Prints all tables, and adds medians and goals to the result."""
    print()
    print(", ".join(f"{key}: {value}" for key, value in result["machine"].items()))
    rounds = result.get("rounds", {})
    if rounds:
        print(f"{options.records} files of 300 bytes, {options.rounds} rounds\n")
        report.print_rows(rounds, titles)
        result["medians"] = {
            name: {row: report.median(turns, row) for row in [*measure.ROWS, "memory"]}
            for name, turns in rounds.items()
        }
    counts = result["requests"]
    report.print_requests(counts, titles)
    if options.before:
        report.print_before(rounds, counts)
    if options.attached:
        report.print_attached(rounds, counts)
    names = [name for name in titles if name.startswith("recordfs")]
    goals = {name: report.goals(rounds, name) for name in names}
    for name in names:
        goals[name] += report.rival_goals(rounds, name, counts)
    if options.attached:
        goals["attached"] = report.attached_goals(rounds)
    if "large" in result:
        report.print_large(result["large"], titles, options.large_records)
        for name in names:
            goals[name] = goals[name] + report.large_goals(result["large"], name)
    asked = {name: requests.goals(counts, name) for name in names if name in counts}
    report.print_goals(goals, titles)
    report.print_goals(asked, titles)
    result["goals"] = [
        {"subject": name, "goal": what, "value": value, "limit": limit, "met": value <= limit,
         "is a count": entries is asked}
        for entries in (goals, asked) for name, rows in entries.items()
        for what, value, limit in rows
    ]


try:
    main()
except subjects.Failure as failure:
    sys.exit(f"bench: {failure}")
except KeyboardInterrupt:
    sys.exit(130)
