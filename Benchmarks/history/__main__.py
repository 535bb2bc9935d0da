"""What the history costs: undo of many records, and the tree of a moment next to the present one."""

import json
import os
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fs"))

import program  # noqa: E402
import subjects  # noqa: E402

# The number of versions of each record.
VERSIONS = 10
READ = 5_000
REMOVED = 5_000
EDITED = 1_000
# Longer than the pause after which a program's next change is another step (`Gesture.pause`).
PAUSE = 2.5


def seconds(*words, shell=None, status=(0,)):
    """How long a command takes, whose output nobody reads."""
    begin = time.monotonic()
    done = subprocess.run(
        ["bash", "-c", shell] if shell else words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if done.returncode not in status:
        raise subjects.Failure(f"{shell or ' '.join(words)}: {done.stderr.decode()}")
    return time.monotonic() - begin


class History(subjects.RecordFS):
    database = "private"

    def recordfs(self, *words, **options):
        return seconds(self.program, *words, "--state", self.storage, **options)

    def rows(self, count, version):
        path = os.path.join(self.folder, "rows.ndjson")
        with open(path, "w") as file:
            for number in range(count):
                row = {"$name": f"r{number:06}", "version": version, "text": "x" * 200}
                file.write(json.dumps(row) + "\n")
        return path

    def import_version(self, count, version):
        path = f"{self.database}/Bench/Note"
        return self.recordfs("import", "-q", self.rows(count, version), path)


def undo(subject):
    """Seconds of undo after `rm -rf` of many records, and after a `sed -i` over many."""
    subject.import_version(REMOVED, 0)
    time.sleep(PAUSE)
    seconds("rm", "-rf", subject.directory)
    row = {"undo of rm -rf": subject.recordfs("undo")}
    check(subject, REMOVED)
    time.sleep(PAUSE)
    seconds(shell=f"cd {subject.directory} && ls | head -{EDITED} | xargs sed -i s/version/number/")
    time.sleep(PAUSE)
    row["undo of sed -i"] = subject.recordfs("undo")
    check(subject, REMOVED)
    # It finds nothing.
    seconds(shell=f"grep -rl number {subject.directory}", status=(1,))
    return row


def check(subject, count):
    found = len(os.listdir(subject.directory))
    if found != count:
        raise subjects.Failure(f"{found} of {count} records are there")


def moments(subject, options):
    """Seconds of listing and reading, now and at a moment, each after a mount that knows nothing."""
    for version in range(VERSIONS):
        if version == VERSIONS // 2:
            subject.recordfs("moment", "create", "middle")
        subject.import_version(options.records, version)
    past = os.path.join(
        subject.mountpoint, ".recordfs", "at", "middle", subject.database, "Bench", "Note")
    work = {
        "ls": "ls {}", "ls -l": "ls -l {}",
        "cat": f"cd {{}} && ls | shuf --random-source=/dev/zero -n {READ} | xargs cat"}
    rounds = []
    for _ in range(options.rounds):
        row = {}
        for name, command in work.items():
            for title, directory in (("now", subject.directory), ("then", past)):
                subject.remount(options.records)
                row[f"{name}, {title}"] = seconds(shell=command.format(directory))
        rounds.append(row)
    return {key: statistics.median(row[key] for row in rounds) for key in rounds[0]}


def differences(subject, options):
    """Seconds of a comparison after few changes and after many."""
    row = {}
    for count in (options.records // 100, options.records // 10):
        subject.recordfs("moment", "create", f"before-{count}")
        subject.import_version(count, VERSIONS + count)
        row[f"diff of {count} records"] = subject.recordfs(
            "diff", "--stat", f"before-{count}", status=(1,))
    return row


def goals(result):
    found = [
        ("undo of rm -rf of 5 000 records: seconds", result["undo of rm -rf"], 2),
        ("undo of sed -i over 1 000: seconds", result["undo of sed -i"], 2)]
    for name in ("ls", "ls -l", "cat"):
        found.append((f"{name} at a moment: ratio to now", result[f"{name}, then"] / result[f"{name}, now"], 2))
    return found


def main():
    options = program.options(quick=(1_000, 1), full=(100_000, 3))
    History.program = program.program(options)
    subject = History(options.work, options.run, 300)
    subject.install()
    result = {}
    for measure in (undo, lambda it: moments(it, options) | differences(it, options)):
        subject.make()
        try:
            result |= measure(subject)
        finally:
            subject.throw_away()
    title = f"{options.records} records with {VERSIONS} versions each; {READ} files are read"
    program.show(options, title, result, goals(result), "RecordFS, private")


if __name__ == "__main__":
    try:
        main()
    except subjects.Failure as failure:
        sys.exit(f"bench: {failure}")
