"""What questions in SQL cost next to sqlite3 on a plain table, and an import next to sqlite-utils."""

import argparse
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fs"))

import report  # noqa: E402
import subjects  # noqa: E402

KINDS = ["tea", "rice", "salt", "soup", "leek", "peas", "corn", "oats", "rye", "figs"]
QUESTIONS = {
    "count": "SELECT count(*) FROM Row",
    "sum by kind": "SELECT kind, count(*), sum(n), avg(price) FROM Row GROUP BY kind ORDER BY kind",
    "range": "SELECT count(*), max(price) FROM Row WHERE n BETWEEN 100000 AND 200000",
    "like": "SELECT count(*) FROM Row WHERE title LIKE '%999%'",
}


def arguments():
    parser = argparse.ArgumentParser()
    for option in ("--root", "--work", "--run"):
        parser.add_argument(option, required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--records", type=int)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--recordfs")
    parser.add_argument("--json")
    options = parser.parse_args()
    options.records = options.records or (2_000 if options.quick else 1_000_000)
    options.rounds = options.rounds or (1 if options.quick else 5)
    return options


def timed(words):
    """The seconds of a command, and what it prints."""
    begin = time.monotonic()
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        raise subjects.Failure(f"{' '.join(words)}: {done.stderr}")
    return time.monotonic() - begin, done.stdout


def row(number):
    return {
        "n": number, "price": (number * 7919 % 100_000) / 4, "kind": KINDS[number % len(KINDS)],
        "title": f"row {number} of the table", "isOpen": number % 3 == 0}


def make_rows(path, count):
    with open(path, "w") as file:
        for number in range(count):
            file.write(json.dumps({"$name": f"r{number:07}", **row(number)}) + "\n")


def make_plain(path, count):
    """The same rows in a table of their own."""
    database = sqlite3.connect(path)
    database.execute(
        "CREATE TABLE Row (_name TEXT, n INTEGER, price REAL, kind TEXT, title TEXT, isOpen INTEGER)")
    rows = ((f"r{number:07}", *row(number).values()) for number in range(count))
    database.executemany("INSERT INTO Row VALUES (?, ?, ?, ?, ?, ?)", rows)
    database.commit()
    database.close()


def sqlite_utils(options, rows):
    """Seconds of the same import by sqlite-utils. Nothing with --quick."""
    if options.quick:
        return {}
    program = os.path.join(options.work, "venv", "bin", "sqlite-utils")
    subjects.install_from_pypi(options.work, program, "sqlite-utils")
    target = os.path.join(options.run, "utils.db")
    return {"import by sqlite-utils": timed([program, "insert", "--nl", target, "Row", rows])[0]}


def measure(options, program):
    state, rows = os.path.join(options.run, "state"), os.path.join(options.run, "rows.ndjson")
    plain = os.path.join(options.run, "plain.db")
    make_rows(rows, options.records)
    make_plain(plain, options.records)
    result = {
        "import": timed([program, "import", "-q", "--state", state, rows, "local/Bench/Row"])[0]}
    result |= sqlite_utils(options, rows)
    ask = [program, "sql", "--state", state, "--csv"]
    result["first question"] = timed([*ask, QUESTIONS["count"]])[0]
    found = {}
    for _ in range(options.rounds):
        for name, question in QUESTIONS.items():
            ours, answer = timed([*ask, question])
            theirs, expected = timed(["sqlite3", "-csv", "-header", plain, question])
            # sqlite3 ends lines as the standard for CSV says.
            if answer.split() != expected.split():
                raise subjects.Failure(f"{question}: {answer} and not {expected}")
            found.setdefault(name, []).append((ours, theirs))
    for name, pairs in found.items():
        result[f"{name}, here"] = statistics.median(pair[0] for pair in pairs)
        result[f"{name}, sqlite3"] = statistics.median(pair[1] for pair in pairs)
        result[f"{name}, ratio"] = statistics.median(ours / theirs for ours, theirs in pairs)
    return result


def main():
    options = arguments()
    program = options.recordfs or os.path.join(options.root, ".build/release/recordfs")
    if options.quick and not options.recordfs and not os.path.exists(program):
        program = os.path.join(options.root, ".build/debug/recordfs")
    result = measure(options, os.path.abspath(program))
    machine = report.machine(options.work)
    print(", ".join(f"{key}: {value}" for key, value in machine.items()))
    print(f"{options.records} records of five members, {options.rounds} rounds\n")
    report.table(["", "seconds"], [
        [key, report.number(value, 3)] for key, value in result.items() if "ratio" not in key])
    goals = [(f"{key} to sqlite3 on a plain table", value, 1.5)
             for key, value in result.items() if "ratio" in key]
    rate = options.records / result["import"]
    goals.append(("import: rows a second, as seconds for 40 000", 40_000 / rate, 1))
    report.print_goals({"recordfs": goals}, {"recordfs": "RecordFS"})
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"machine": machine, "seconds": result}, file, indent=2)
            file.write("\n")


if __name__ == "__main__":
    try:
        main()
    except subjects.Failure as failure:
        sys.exit(f"bench: {failure}")
