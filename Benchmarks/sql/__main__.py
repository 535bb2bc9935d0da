"""What questions in SQL cost next to sqlite3 on a plain table, and an import next to sqlite-utils."""

import json
import os
import sqlite3
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fs"))

import program  # noqa: E402
import subjects  # noqa: E402

KINDS = ["tea", "rice", "salt", "soup", "leek", "peas", "corn", "oats", "rye", "figs"]
QUESTIONS = {
    "count": "SELECT count(*) FROM Row",
    "sum by kind": "SELECT kind, count(*), sum(n), avg(price) FROM Row GROUP BY kind ORDER BY kind",
    "range": "SELECT count(*), max(price) FROM Row WHERE n BETWEEN 100000 AND 200000",
    "like": "SELECT count(*) FROM Row WHERE title LIKE '%999%'",
}


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
    utils = os.path.join(options.work, "venv", "bin", "sqlite-utils")
    subjects.install_from_pypi(options.work, utils, "sqlite-utils")
    target = os.path.join(options.run, "utils.db")
    return {"import by sqlite-utils": timed([utils, "insert", "--nl", target, "Row", rows])[0]}


def measure(options, recordfs):
    state, rows = os.path.join(options.run, "state"), os.path.join(options.run, "rows.ndjson")
    plain = os.path.join(options.run, "plain.db")
    make_rows(rows, options.records)
    make_plain(plain, options.records)
    result = {
        "import": timed([recordfs, "import", "-q", "--state", state, rows, "local/Bench/Row"])[0]}
    result |= sqlite_utils(options, rows)
    ask = [recordfs, "sql", "--state", state, "--csv"]
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
    options = program.options(quick=(2_000, 1), full=(1_000_000, 5))
    result = measure(options, program.program(options))
    goals = [(f"{key} to sqlite3 on a plain table", value, 1.5)
             for key, value in result.items() if "ratio" in key]
    rate = options.records / result["import"]
    goals.append(("import: rows a second, as seconds for 40 000", 40_000 / rate, 1))
    title = f"{options.records} records of five members, {options.rounds} rounds"
    program.show(options, title, result, goals, "RecordFS")


if __name__ == "__main__":
    try:
        main()
    except subjects.Failure as failure:
        sys.exit(f"bench: {failure}")
