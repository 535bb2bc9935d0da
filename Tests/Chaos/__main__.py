"""Machines that are killed, cut off and out of space while programs save on them; see scripts/chaos."""

import argparse
import os
import random
import signal
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
# Programs to start and wait for, and a record server with a client, as the benchmarks have them.
sys.path[1:1] = [os.path.join(ROOT, "Benchmarks", name) for name in ("fs", "server")]
sys.path.insert(0, HERE)

import checker
import crowd
import faults
import verdict
import week
import world
import writers
from subjects import Failure


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/chaos")
    parser.add_argument("--run", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--week", action="store_true")
    parser.add_argument("--records", type=int)
    parser.add_argument("--edits", type=int)
    parser.add_argument("--deletes", type=int)
    parser.add_argument("--only")
    parser.add_argument("--machines", type=int)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--recordfs")
    parser.add_argument("--server")
    options = parser.parse_args()
    if options.minutes:
        options.seconds = options.minutes * 60
    options.seconds = options.seconds or (20 if options.quick else 600)
    options.records = options.records or (300 if options.quick else 5_000)
    options.edits = options.edits or (400 if options.quick else 10_000)
    options.deletes = options.deletes or (100 if options.quick else 2_000)
    if options.seed is None:
        options.seed = int(time.time()) % 1_000_000
    return options


def built(program, given):
    if given:
        return os.path.abspath(given)
    paths = [os.path.join(ROOT, ".build", kind, program) for kind in ("release", "debug")]
    found = next(filter(os.path.exists, paths), None)
    if found is None:
        raise Failure(f"{paths[0]} is missing; build it: swift build -c release")
    return found


def breakers(scene, options, seeds):
    longest = 60 if options.seconds >= 300 else 5
    kinds = {
        "a": faults.of_machine(scene.machines["a"]), "b": faults.of_machine(scene.machines["b"]),
        "server": faults.of_server(scene, longest),
        "network": faults.of_network(scene, min(longest, 20)),
    }
    words = (options.only or "").split(",")
    chosen = {
        name: [fault for fault in kind if any(word in fault.name for word in words)]
        for name, kind in kinds.items()}
    return [
        faults.Breaker(scene, name, kind, seeds.random()) for name, kind in chosen.items() if kind]


def run(options):
    seeds = random.Random(options.seed)
    programs = built("recordfs", options.recordfs), built("recordfs-server", options.server)
    if options.week:
        return week.run(options, programs)
    world.raise_loopback()
    names = "abcdefgh"[:options.machines] if options.machines else "ab"
    scene = world.World(options.run, programs, options.seed, names)
    try:
        if options.machines:
            return crowd.play(scene, options, seeds)
        return play(scene, options, seeds)
    finally:
        scene.end()


def play(scene, options, seeds):
    a, b = scene.machines["a"], scene.machines["b"]
    writers.prepare(a, scene)
    verdict.settle([a, b])
    scene.say(f"seed {options.seed}: {options.seconds:.0f} s")
    those_who_write = [writers.Writer(machine, scene, seeds.random()) for machine in (a, b)]
    those_who_look = [checker.Checker(machine, scene, seeds.random()) for machine in (a, b)]
    those_who_break = breakers(scene, options, seeds)
    for thread in those_who_write + those_who_look + those_who_break:
        thread.daemon = True
        thread.start()
    scene.is_over.wait(options.seconds)
    scene.is_over.set()
    # First all is mended.
    for thread in those_who_break + those_who_write + those_who_look:
        thread.join(120)
        if thread.is_alive():
            scene.violation(f"{thread.name} hangs")
    for look in those_who_look:
        look.finish()
    if not any(thread.is_alive() for thread in those_who_write + those_who_break):
        verdict.judge(scene, those_who_write)
    report(scene, those_who_write, those_who_look, those_who_break)
    return not scene.violations


def report(scene, those_who_write, those_who_look, those_who_break):
    failures = {}
    for writer in those_who_write:
        for name, count in writer.errors.items():
            failures[name] = failures.get(name, 0) + count
    acknowledged = scene.model.acknowledged + scene.counters.acknowledged
    print(f"{acknowledged} saves acknowledged; errors: {failures}")
    print("faults: " + ", ".join(
        f"{name} {count}" for breaker in those_who_break
        for name, count in sorted(breaker.done.items())))
    for look in those_who_look:
        print(
            f"status of {look.machine.name}: read {look.reads} times, {look.claims} times with all "
            f"sent, compared with the server {look.compared} times")
    print(f"{len(scene.violations)} violations")
    for line in scene.violations:
        print(f"  {line}")


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        sys.exit(0 if run(options) else 1)
    except Failure as failure:
        print(f"chaos: seed {options.seed}: {failure}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


main()
