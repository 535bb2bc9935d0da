"""Medians, ratios and goals, as text and as a value for JSON."""

import os
import platform
import statistics
import subprocess

import requests
from measure import ROWS

# The goals of the mount's contract: row, what it is compared with, the most that it may be.
GOALS = [
    ("ls first", "floor", 1.3),
    ("ls again", "floor", 1.3),
    ("read first", "floor", 1.5),
    ("read again", "floor", 1.1),
    ("grep again", "floor", 1.1),
    ("create", "floor", 1.5),
    ("create", "juicefs", 0.2),
    ("rsync", "floor", 1.7),
    ("rm", "floor", 2.0),
]
LARGE_RATIO = 1.5
ATTACHED_RATIO = 1.3
LARGE_MEMORY = 100e6


def machine(directory):
    with open("/proc/cpuinfo") as file:
        models = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
    with open("/proc/meminfo") as file:
        memory = int(file.readline().split()[1]) * 1024
    output = ["findmnt", "-n", "-o", "FSTYPE", "-T", directory]
    return {
        "processor": models[0] if models else platform.machine(),
        "processors": os.cpu_count(),
        "memory": memory,
        "kernel": platform.release(),
        "libfuse": subprocess.getoutput("pkg-config --modversion fuse3"),
        "file system": subprocess.check_output(output, text=True).strip(),
    }


def median(turns, row):
    values = [turn[row] for turn in turns if turn.get(row) is not None]
    return statistics.median(values) if values else None


def ratio(results, row, name, other):
    """The median over the rounds of the ratio in one round: the machine's moods cancel out."""
    pairs = zip(results.get(name, []), results.get(other, []))
    values = [ours[row] / theirs[row] for ours, theirs in pairs
              if theirs.get(row) and ours.get(row) is not None]
    return statistics.median(values) if values else None


def goals(results, name):
    """(what, value, limit) of the goals that this run can judge."""
    found = []
    for row, other, limit in GOALS:
        value = ratio(results, row, name, other)
        if value is not None:
            found.append((f"{ROWS[row]}: ratio to {other}", value, limit))
    turns = results.get(name, [])
    values = [turn["replace"] / turn["create"] for turn in turns]
    if values:
        found.append(("temporary file + rename: ratio to create", statistics.median(values), 1.5))
    values = [ours["fsync"] / (floor["create"] + disk["fsync"] - disk["create"])
              for ours, floor, disk in zip(turns, results.get("floor", []), results.get("home", []))]
    if values:
        what = f"{ROWS['fsync']}: ratio to the floor's create and what fsync adds on the disk"
        found.append((what, statistics.median(values), 1.3))
    values = [turn["ls after"] / turn["ls first"] for turn in turns]
    if values:
        found.append((f"{ROWS['ls after']}: ratio to ls -l alone", statistics.median(values), 1.5))
    return found


def rival_goals(results, name, counts):
    """(what, value, limit): the row that is nearest to being slower, in time and in requests."""
    found = []
    for rival in ("juicefs", "rclone"):
        times = [(ratio(results, row, name, rival), title) for row, title in ROWS.items()]
        times = [pair for pair in times if pair[0] is not None]
        if times:
            worst, title = max(times)
            found.append((f"worst row next to {rival} ({title}): ratio", worst, 1.0))
        if rival in counts and name in counts:
            pairs = [(requests.total(counts[name][row]), requests.total(counts[rival][row]), title)
                     for row, title in requests.ROWS.items()]
            margins = [(ours - theirs, title) for ours, theirs, title in pairs
                       if theirs is not None]
            worst, title = max(margins)
            what = f"worst row next to {rival} ({title}): requests more for each file"
            found.append((what, worst, requests.ONCE))
    return found


def large_goals(large, name):
    found = []
    small, big = large.get(name, ({}, {}))
    for row in ("scan first", "scan again", "read first", "read again"):
        if small.get(row) and big.get(row):
            title = f"{row}, per entry: large directory to small"
            found.append((title, big[row] / small[row], LARGE_RATIO))
    if big.get("memory"):
        found.append(("memory with all records, MB", big["memory"] / 1e6, LARGE_MEMORY / 1e6))
    return found


def table(head, lines):
    widths = [max(len(line[at]) for line in [head] + lines) for at in range(len(head))]
    for line in [head] + lines:
        first = line[0].ljust(widths[0])
        rest = [cell.rjust(width) for cell, width in zip(line[1:], widths[1:])]
        print("  ".join([first] + rest))
    print()


def number(value, digits=1):
    return "-" if value is None else f"{value:.{digits}f}"


def attached_goals(results):
    """(what, value, limit) for a zone with a model: the worst row next to a zone without one."""
    ratios = [(ratio(results, row, "attached", "recordfs"), title) for row, title in ROWS.items()]
    ratios = [pair for pair in ratios if pair[0] is not None]
    if not ratios:
        return []
    worst, title = max(ratios)
    return [(f"worst row of an attached zone ({title}): ratio to a plain one", worst, ATTACHED_RATIO)]


def print_attached(results, counts):
    """Compares a zone with a model and one without: the ratio of each time, and any other count."""
    print("an attached zone to a plain one")
    table(["", "ratio"], [[title, number(ratio(results, row, "attached", "recordfs"), 2)]
                          for row, title in ROWS.items()])
    print_other_requests(counts, "attached")


def print_other_requests(counts, name):
    other = [title for row, title in requests.ROWS.items()
             if abs(requests.total(counts["recordfs"][row])
                    - requests.total(counts[name][row])) > requests.ONCE]
    print("other requests: " + (", ".join(other) or "none") + "\n")


def print_before(results, counts):
    """Compares with the program of --before: the ratio of each time, and any other count."""
    print("to the program before")
    lines = []
    for row, title in ROWS.items():
        values = [ratio(results, row, one, other)
                  for one, other in (("recordfs", "before"), ("recordfs", "floor"), ("before", "floor"))]
        lines.append([title] + [number(value, 2) for value in values])
    table(["", "ratio", "to the floor", "before, to the floor"], lines)
    print_other_requests(counts, "before")


def print_rows(results, titles):
    names = list(results)
    print("microseconds for each file, median of the rounds")
    lines = []
    for row, title in ROWS.items():
        lines.append([title] + [number(median(results[name], row)) for name in names])
    memory = [median(results[name], "memory") for name in names]
    lines.append(["memory, MB"] + [number(value and value / 1e6) for value in memory])
    table([""] + [titles[name] for name in names], lines)
    for other in ("floor", "home", "juicefs"):
        if other not in results:
            continue
        print(f"times {titles[other]}, median of the rounds' ratios")
        lines = []
        for row, title in ROWS.items():
            lines.append([title] + [number(ratio(results, row, n, other), 2) for n in names])
        table([""] + [titles[name] for name in names], lines)


def print_requests(found, titles):
    print("requests of the kernel for each file (strace on the daemon)")
    lines = []
    for row, title in requests.ROWS.items():
        goal = requests.GOALS.get(row)
        counts = [number(requests.total(rows[row])) for rows in found.values()]
        lines.append([title] + counts + [number(goal, 0)])
    table([""] + [titles[name] for name in found] + ["goal"], lines)
    for name, rows in found.items():
        print(f"{titles[name]}, by operation")
        for row, title in requests.ROWS.items():
            parts = [f"{operation} {value:.1f}" for operation, value in (rows[row] or {}).items()
                     if value >= 0.05]
            print(f"  {title}: {', '.join(parts) or 'none'}")
        print()


def print_large(large, titles, count):
    print(f"{count} records in one directory (and in a small one), microseconds for each entry")
    lines = []
    for row in ("import", "scan first", "scan again", "scan after", "read first", "read again"):
        line = [row]
        for small, big in large.values():
            line.append(f"{number(big.get(row))} ({number(small.get(row))})")
        lines.append(line)
    memory = [f"{number(big['memory'] and big['memory'] / 1e6)}" for _, big in large.values()]
    lines.append(["memory, MB"] + memory)
    table([""] + [titles[name] for name in large], lines)


def print_goals(found, titles):
    lines = []
    for name, entries in found.items():
        for what, value, limit in entries:
            verdict = "met" if value <= limit else "MISSED"
            lines.append([f"{titles[name]}: {what}", number(value, 2), f"<= {limit:g}", verdict])
    if lines:
        table(["goal", "value", "limit", ""], lines)


def requests_markdown(found, titles):
    lines = [
        "Requests of the kernel for each file, counted with strace on the daemon.",
        "",
        "| | " + " | ".join(titles[name] for name in found) + " | goal |",
        "|---|" + "---:|" * (len(found) + 1),
    ]
    for row, title in requests.ROWS.items():
        cells = [number(requests.total(rows[row])) for rows in found.values()]
        goal = number(requests.GOALS.get(row), 0)
        lines.append(f"| {title} | " + " | ".join([*cells, goal]) + " |")
    return "\n".join(lines) + "\n"


def markdown(result, titles, options):
    """The tables for Benchmarks.md."""
    parts = [requests_markdown(result["requests"], titles)]
    if "rounds" in result:
        parts.insert(0, times_markdown(result, titles, options))
    parts.append(goals_markdown(result["goals"], titles))
    return "\n".join(parts)


def times_markdown(result, titles, options):
    machine = result["machine"]
    names = list(result["medians"])
    lines = [
        f"Microseconds for each of {options.records} files of 300 bytes, median of "
        f"{options.rounds} rounds; {machine['processors']} cores of {machine['processor']}, "
        f"{machine['memory'] / 2**30:.0f} GiB, Linux {machine['kernel']}, "
        f"libfuse {machine['libfuse']}, {machine['file system']}.",
        "",
        "| | " + " | ".join(titles[name] for name in names) + " |",
        "|---|" + "---:|" * len(names),
    ]
    for row, title in ROWS.items():
        cells = [number(result["medians"][name][row]) for name in names]
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    memory = [result["medians"][name]["memory"] for name in names]
    cells = [number(value and value / 1e6) for value in memory]
    lines.append("| memory of the process, MB | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def goals_markdown(found, titles):
    lines = ["| goal | value | limit | |", "|---|---:|---:|---|"]
    for goal in found:
        verdict = "met" if goal["met"] else "missed"
        title = f"{titles[goal['subject']]}: {goal['goal']}"
        lines.append(f"| {title} | {goal['value']:.2f} | {goal['limit']:g} | {verdict} |")
    return "\n".join(lines) + "\n"
