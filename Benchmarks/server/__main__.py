"""Measures the record server on this machine; started by scripts/bench server."""

import argparse
import json
import os
import shutil
import subprocess
import sys

import hostile
import measure
import trees
from report import judge, tables
from server import Server

RATE_GOAL = 0.5
MEMORY_GOAL = 150e6
DOWNLOAD_GOAL = 32e6
FEED_GOAL = 5e-3
CLIENTS = 4
DOWNLOADS = 8


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/bench server")
    parser.add_argument("--quick", action="store_true",
                        help="few records, one round: shows only that it runs")
    parser.add_argument("--large", action="store_true", help="also a zone of 1 000 000 records")
    parser.add_argument("--rounds", type=int, default=5,
                        help="how often batches and bare rows have their turn (5)")
    parser.add_argument("--hostile", type=int, metavar="SECONDS",
                        help="how long 100 hostile callers have their turn (600, --quick 10)")
    parser.add_argument("--share-tree", type=int, metavar="N",
                        help="only: share and move a hierarchy of N children")
    parser.add_argument("--server", help="the program to measure (.build/release/recordfs-server)")
    parser.add_argument("--json", help="where all figures go")
    parser.add_argument("--markdown", help="where the tables go")
    parser.add_argument("--root", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--work", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--run", required=True, help=argparse.SUPPRESS)
    return parser.parse_args()


def program(options):
    if options.server:
        return options.server
    release = os.path.join(options.root, ".build/release/recordfs-server")
    debug = os.path.join(options.root, ".build/debug/recordfs-server")
    if options.quick and not os.path.exists(release):
        return debug
    if not options.quick:
        subprocess.run(["swift", "build", "-c", "release", "--product", "recordfs-server"],
                       cwd=options.root, check=True)
    return release


def bare_rate(options, server, zone, directory):
    """Records a second of the same rows in bare SQLite transactions of a batch."""
    target = os.path.join(directory, "bare.sqlite")
    source = os.path.join(server.data, "records.sqlite")
    for name in (target, target + "-wal", target + "-shm"):
        if os.path.exists(name):
            os.unlink(name)
    output = subprocess.check_output(
        [os.path.join(options.work, "bare"), source, target, zone, str(measure.BATCH)], text=True)
    return float(output)


def batches(options, server, client, count):
    """Batches and bare rows in turn over several rounds, so that the machine's moods cancel."""
    turns = []
    for turn in range(options.rounds):
        zone = f"batch{turn}"
        measure.make_zone(client, zone)
        times = measure.fill(client, zone, 0, count)
        bare = bare_rate(options, server, zone, options.run)
        together = f"together{turn}"
        measure.make_zone(client, together)
        at_once = count / measure.fill_together(client, together, count, CLIENTS)
        one = count / sum(times)
        turns.append({"one client": one, "clients at once": at_once, "bare": bare,
                      "ratio of one": one / bare, "ratio": at_once / bare,
                      **measure.latency(times)})
    return turns


def growth(options, client, sizes, rounds):
    results, filled, zone = {}, 0, "growth"
    measure.make_zone(client, zone)
    for size in sizes:
        measure.fill(client, zone, filled, size)
        filled = size
        results[size] = {
            "save": measure.latency(measure.modify_one(client, zone, size, rounds)),
            "lookup of 200": measure.latency(measure.lookup(client, zone, size, rounds)),
            "query, equality": measure.latency(
                measure.query(client, zone, size, rounds, "equal")),
            "query, sorted page": measure.latency(
                measure.query(client, zone, size, rounds, "sorted")),
            "changes after one": measure.latency(
                measure.changes_after_one(client, zone, size, rounds)),
        }
        print(f"  {size} records done", file=sys.stderr)
    return results


def attack(options, server):
    """Hostile callers against a server that was started anew, so that the memory is theirs."""
    seconds = options.hostile or (10 if options.quick else 600)
    server.stop()
    server.start(*hostile.SETTINGS)
    client = server.client("hostile@example.org")
    server.command("user", "quota", "hostile@example.org", str(hostile.QUOTA))
    print(f"  hostile callers for {seconds} s", file=sys.stderr)
    return hostile.attack(server, client, seconds)


def run(options):
    count = 1_000 if options.quick else 20_000
    sizes = [1_000] if options.quick else [1_000, 10_000, 100_000]
    sizes += [1_000_000] if options.large else []
    rounds = 5 if options.quick else 50
    options.rounds = 1 if options.quick else options.rounds
    directory = os.path.join(options.run, "server")
    os.makedirs(directory)
    server = Server(program(options), directory)
    try:
        server.start()
        client = server.client()
        figures = {"batches": batches(options, server, client, count)}
        figures["download"] = {}
        for name, extended in (("pages of 200", False), ("pages of 2000", True)):
            found, seconds = measure.download(client, "batch0", extended)
            figures["download"][name] = found / seconds
        figures["assets"] = measure.assets(client, "batch0", 8 if options.quick else 200)
        counts = [1, 10] if options.quick else [1, 100, 1_000, 10_000]
        figures["zones"] = measure.many_zones(client, counts, rounds)
        figures["growth"] = growth(options, client, sizes, rounds)
        sockets = measure.long_polls(client, 200)
        figures["memory"] = dict(zip(("now", "highest"), server.memory()))
        for waiting in sockets:
            waiting.close()
        figures["downloads"] = measure.downloads(
            server, client, "batch0", 8 if options.quick else 250, DOWNLOADS)
        figures["hostile"] = attack(options, server)
        return figures
    finally:
        server.stop()
        shutil.rmtree(directory, ignore_errors=True)


def share_tree(options):
    directory = os.path.join(options.run, "server")
    os.makedirs(directory)
    server = Server(program(options), directory)
    try:
        server.start()
        return trees.run(server, options.share_tree)
    finally:
        server.stop()
        shutil.rmtree(directory, ignore_errors=True)


def main():
    options = arguments()
    if options.share_tree:
        figures = share_tree(options)
        text, goals = trees.table(figures), ""
    else:
        figures = run(options)
        text = tables(figures)
        goals = judge(figures, RATE_GOAL, MEMORY_GOAL, DOWNLOAD_GOAL, FEED_GOAL)
    print(text + goals)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(figures, file, indent=2)
    if options.markdown:
        with open(options.markdown, "w") as file:
            file.write(text + goals)


main()
