"""Measures how files get from one machine to another; see scripts/bench."""

import argparse
import json
import os
import signal
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# Programs to start and wait for, and a record server, as the other benchmarks have them.
sys.path[1:1] = [os.path.join(os.path.dirname(HERE), name) for name in ("fs", "server")]
sys.path.insert(0, HERE)

import figures
import idle
import objects
import pairs
import sharing
import waiting
import work
from subjects import Failure


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/bench sync")
    for name in ("root", "work", "run"):
        parser.add_argument("--" + name, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--records", type=int)
    parser.add_argument("--copied", type=int)
    parser.add_argument("--saves", type=int)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--idle", type=int)
    parser.add_argument("--shared", type=int)
    parser.add_argument("--objects", type=int)
    parser.add_argument("--waiting", type=int)
    parser.add_argument("--subjects")
    parser.add_argument("--recordfs")
    parser.add_argument("--server")
    parser.add_argument("--before")
    parser.add_argument("--before-server")
    parser.add_argument("--json")
    parser.add_argument("--markdown")
    options = parser.parse_args()
    usual = 1_000 if options.shared else 100_000
    options.records = options.records or (500 if options.quick else usual)
    options.copied = options.copied or (200 if options.quick else 10_000)
    options.saves = options.saves or (5 if options.quick else 100)
    options.rounds = options.rounds or (1 if options.quick else 3)
    return options


def built(options, program, given):
    """What `swift build` has made; a debug build will do only to show that the benchmark runs."""
    if given:
        return os.path.abspath(given)
    kinds = ["release", "debug"] if options.quick else ["release"]
    paths = [os.path.join(options.root, ".build", kind, program) for kind in kinds]
    found = next(filter(os.path.exists, paths), None)
    if found is None:
        raise Failure(f"{paths[0]} is missing; build it: swift build -c release")
    return found


def chosen(options):
    known = {kind.name: kind for kind in pairs.ALL}
    isAlone = options.quick or options.idle or options.objects or options.shared or options.waiting
    names = ["recordfs"] if isAlone else [name for name in known if name != "before"]
    if options.subjects:
        names = options.subjects.split(",")
    if options.before:
        names.insert(names.index("recordfs") + 1, "before")
        pairs.Before.program = os.path.abspath(options.before)
        pairs.Before.server_program = built(
            options, "recordfs-server", options.before_server or options.server)
    unknown = set(names) - set(known)
    if unknown:
        raise Failure(f"no subject called {', '.join(sorted(unknown))}")
    pairs.RecordFS.program = built(options, "recordfs", options.recordfs)
    pairs.RecordFS.server_program = built(options, "recordfs-server", options.server)
    found = [known[name](options.work, options.run) for name in names]
    for pair in found:
        pair.install()
    return found


def main():
    options = arguments()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(143))
    found = chosen(options)
    for asked, kind in (
            (options.idle, idle), (options.objects, objects), (options.waiting, waiting)):
        if asked:
            row = kind.measure(options, options.work, options.run)
            print("\n".join(kind.lines(row)) + "\n\n" + figures.goal_table(kind.goals(row)))
            return
    source = work.Source(options)
    if options.shared:
        row = sharing.measure(options, source, options.work, options.run)
        print("\n".join(sharing.lines(row)) + "\n\n" + figures.goal_table(sharing.goals(row)))
        return
    rounds = {pair.name: [] for pair in found}
    for turn in range(options.rounds):
        for pair in found:
            print(f"round {turn + 1} of {options.rounds}: {pair.title}", flush=True)
            try:
                rounds[pair.name].append(work.turn(pair, source, options))
            except Failure as failure:
                # The others are measured all the same.
                if pair.name == "recordfs":
                    raise
                print(f"  not finished: {failure}", flush=True)
                continue
            print("\n".join(figures.lines(rounds[pair.name][-1])), flush=True)
    rounds = {name: turns for name, turns in rounds.items() if turns}
    titles = {pair.name: pair.title for pair in found if pair.name in rounds}
    text = figures.tables(rounds, titles, options)
    if options.before:
        text += figures.before_table(rounds)
    goals = figures.goals(rounds, options)
    text += figures.goal_table(goals)
    print("\n" + text)
    if options.markdown:
        with open(options.markdown, "w") as file:
            file.write(text)
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"rounds": rounds, "goals": goals}, file, indent=2)
            file.write("\n")


try:
    main()
except Failure as failure:
    sys.exit(f"bench: {failure}")
except KeyboardInterrupt:
    sys.exit(130)
