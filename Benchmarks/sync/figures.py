"""Tables and goals."""

import statistics

ROWS = [
    ("files", "files of 300 bytes at A, before B joins", "{:.0f}", 1),
    ("first download", "first download, files a second", "{:.0f}", 1),
    ("settle", "what A does before, s", "{:.1f}", 1),
    ("copy", "cp -r at A, s", "{:.2f}", 1),
    ("copy arrives", "complete at B after its end, s", "{:.2f}", 1),
    ("save, few records", "save at A seen at B, ms (median)", "{:.0f}", 1e3),
    ("save, many records", "the same among many files", "{:.0f}", 1e3),
    ("bytes of a save", "bytes over the wire for a save", "{:.0f}", 1),
    ("wire: requests of a save", "wire: requests of a save of 300 bytes, both sides", "{:.1f}", 1),
    ("wire: bytes of a save", "wire: its bytes", "{:.0f}", 1),
    ("wire: bytes of a character", "wire: bytes of one character in 60 kB", "{:.0f}", 1),
    ("wire: bytes of an hour", "wire: bytes of an idle hour of one side", "{:.0f}", 1),
    ("memory", "most memory of a side, MB", "{:.0f}", 1e-6),
]


def value(turn, key):
    found = turn.get(key)
    return found["median"] if isinstance(found, dict) else found


def median(turns, key):
    values = [value(turn, key) for turn in turns if value(turn, key) is not None]
    return statistics.median(values) if values else None


def lines(turn):
    """What one turn of a pair has shown, a line each."""
    return [
        f"  {title}: {form.format(value(turn, key) * factor)}"
        for key, title, form, factor in ROWS if value(turn, key) is not None]


def tables(rounds, titles, options):
    head = [f"{options.copied} files copied", *titles.values()]
    lines = ["| " + " | ".join(head) + " |", "|---" + "|---:" * len(titles) + "|"]
    for key, title, form, factor in ROWS:
        cells = []
        for name in titles:
            found = median(rounds[name], key)
            cells.append("-" if found is None else form.format(found * factor))
        lines.append("| " + " | ".join([title, *cells]) + " |")
    return "\n".join(lines) + "\n\n"


def before_table(rounds):
    """The ratio of each figure to the one of the programs of --before, in the same round."""
    lines = ["| to the programs before | ratio |", "|---|---:|"]
    for key, title, _, _ in ROWS:
        pairs = zip(rounds["recordfs"], rounds["before"])
        ratios = [value(now, key) / value(then, key) for now, then in pairs
                  if value(now, key) is not None and value(then, key)]
        if ratios:
            lines.append(f"| {title} | {statistics.median(ratios):.2f} |")
    return "\n".join(lines) + "\n\n"


def goal(what, value, limit, least=False):
    return {"goal": what, "value": value, "limit": limit,
            "met": value >= limit if least else value <= limit}


def goals(rounds, options):
    """(what, value, limit, whether it is met) of the goals that this run can judge."""
    ours = rounds.get("recordfs")
    if not ours:
        return []
    found = []

    def add(*words, **options):
        found.append(goal(*words, **options))

    rate = median(ours, "first download")
    add("first download, records a second", rate, 20_000, least=True)
    theirs = median(rounds.get("syncthing-tuned", []), "first download")
    if theirs:
        add("the same next to Syncthing, tuned", rate / theirs, 10, least=True)
    add("cp -r complete at the other side after its end, s", median(ours, "copy arrives"), 2)
    ratios = [turn["copy"] / turn["copy, local"] for turn in ours]
    add("cp -r with sync next to local/", statistics.median(ratios), 1.3)
    for key in ("save, few records", "save, many records"):
        add(f"{key}: ms, median", median(ours, key) * 1e3, 100)
        slowest = max(turn[key]["p99"] for turn in ours)
        add(f"{key}: ms, p99 of the slowest round", slowest * 1e3, 500)
    for key, limit in (
            ("wire: requests of a save", 4), ("wire: bytes of a save", 3_000),
            ("wire: bytes of a character", 10_000), ("wire: bytes of an hour", 60_000)):
        if median(ours, key) is not None:
            add(key, median(ours, key), limit)
    return found


def goal_table(goals):
    lines = ["| goal | value | limit | |", "|---|---:|---:|---|"]
    for goal in goals:
        met = "met" if goal["met"] else "missed"
        lines.append(f"| {goal['goal']} | {goal['value']:.4g} | {goal['limit']} | {met} |")
    return "\n".join(lines) + "\n" if goals else ""
