"""Tables of the figures, in Markdown."""

import statistics


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n\n"


def milliseconds(value):
    return f"{value['median'] * 1e3:.2f} / {value['p99'] * 1e3:.2f}"


def tables(figures):
    rows = [[str(turn + 1), f"{value['one client']:.0f}", f"{value['clients at once']:.0f}",
             f"{value['bare']:.0f}", f"{value['ratio of one']:.2f}", f"{value['ratio']:.2f}",
             milliseconds(value)]
            for turn, value in enumerate(figures["batches"])]
    text = table(["200 records a request, round", "one client, records/s",
                  "4 clients, records/s", "bare SQLite, records/s", "ratio, one client",
                  "ratio, 4 clients", "request of one, ms (median / p99)"], rows)
    rows = [[f"first fetch, {name}, records/s", f"{value:.0f}"]
             for name, value in figures["download"].items()]
    rows += [[f"asset {name}, MB/s", f"{value / 1e6:.0f}"]
             for name, value in figures["assets"].items()]
    rows += [[f"memory {name}, MB", f"{value / 1e6:.0f}"]
             for name, value in figures["memory"].items()]
    rows.append(["8 downloads at once, each slow: more memory, MB",
                 f"{figures['downloads'] / 1e6:.0f}"])
    hostile = figures["hostile"]
    rows += [[f"100 hostile callers, {hostile['seconds']} s: most {name}, MB",
              f"{hostile[name] / 1e6:.0f}"] for name in ("memory", "disk")]
    text += table(["throughput, memory and disk", "value"], rows)
    text += table(["100 hostile callers", "most memory, MB", "how many answers of which status"], [
        ["all kinds together", f"{hostile['highest']['all together'] / 1e6:.0f}", ""]] + [
        [name, f"{hostile['highest'][name] / 1e6:.0f}",
         ", ".join(f"{status}: {count}" for status, count in sorted(counts.items()))]
        for name, counts in hostile["answers"].items()])
    for title, key in (("records in the zone", "growth"), ("zones", "zones")):
        sizes = list(figures[key])
        rows = [[name] + [milliseconds(figures[key][size][name]) for size in sizes]
                for name in figures[key][sizes[0]]]
        text += table([f"{title}: ms (median / p99)"] + [str(size) for size in sizes], rows)
    return text


def judge(figures, rate_goal, memory_goal, download_goal, feed_goal):
    ratio = statistics.median(value["ratio"] for value in figures["batches"])
    memory = figures["memory"]["now"]
    one = statistics.median(value["ratio of one"] for value in figures["batches"])
    rows = [["200-record requests of 4 clients: ratio to bare SQLite", f"{ratio:.2f}", f"{rate_goal} or more",
             "met" if ratio >= rate_goal else "missed"],
            ["the same of one client, which waits for each answer", f"{one:.2f}",
             f"{rate_goal} or more", "met" if one >= rate_goal else "missed"],
            ["memory with 200 long polls, MB", f"{memory / 1e6:.0f}",
             f"{memory_goal / 1e6:.0f} or less", "met" if memory <= memory_goal else "missed"]]
    zones, last = list(figures["zones"].items())[-1]
    feed = last["changes/database"]["median"]
    rows.append([f"changes/database with {zones} zones, ms", f"{feed * 1e3:.2f}",
                 f"{feed_goal * 1e3:.0f} or less", "met" if feed <= feed_goal else "missed"])
    more = figures["downloads"]
    rows.append(["memory for 8 downloads at once, MB", f"{more / 1e6:.0f}",
                 f"{download_goal / 1e6:.0f} or less",
                 "met" if more <= download_goal else "missed"])
    under = figures["hostile"]["memory"]
    rows.append(["memory under 100 hostile callers, MB", f"{under / 1e6:.0f}",
                 f"{memory_goal / 1e6:.0f} or less", "met" if under <= memory_goal else "missed"])
    return table(["goal", "value", "limit", ""], rows)
