"""The first download of objects with relationships: with their model, next to the same records without."""

import json
import os
import statistics

import idle
from figures import goal
from subjects import Attached, is_mounted, run

ZONE = "com.apple.coredata.cloudkit.zone"
BATCH = 200
# Notes in a folder, and notes that have each tag.
GROUP = 100


def measure(options, work, folder):
    side = Side(work, folder)
    try:
        side.make(options.objects)
        row = {"records": options.objects, "plain": [], "model": []}
        for _ in range(options.rounds):
            for kind in ("plain", "model"):
                row[kind].append(options.objects / side.first_download(kind, options.objects))
        return row
    finally:
        side.end()


class Side(idle.Side):
    """One machine after the other, which join when the server has all."""

    zone = ZONE

    def make(self, count):
        self.home = self.new_folder()
        self.turns = 0
        self.start_server()
        self.model = os.path.join(self.home, "model.json")
        with open(self.model, "w") as file:
            json.dump(Attached.MODEL, file)
        self.fill(count)

    def batches(self, count):
        records = list(self.records(count))
        for start in range(0, count, BATCH):
            operations = [
                {"operationType": "create", "record": record}
                for record in records[start:start + BATCH]]
            yield json.dumps({"zoneID": {"zoneName": ZONE}, "operations": operations}).encode()

    def records(self, count):
        """Folders and tags, their notes, and a link of a tag for every fifth note."""
        groups = max(1, count // GROUP)
        links = count // 6
        for number in range(groups):
            yield record("Folder", f"F{number}", {})
            yield record("Tag", f"T{number}", {})
        notes = count - 2 * groups - links
        for number in range(notes):
            yield record("Note", f"N{number}", {
                "title": {"value": f"Note number {number}"},
                "body": {"value": ("word%d " % (number % 977)) * 25},
                "number": {"value": number, "type": "INT64"},
                "folder": {"value": f"F{number % groups}"}})
        for number in range(links):
            yield link(f"N{number}", f"T{number % groups}", number)

    def first_download(self, kind, count):
        """Seconds of the first download of a new machine."""
        self.turns += 1
        self.side = f"{kind}-{self.turns}"
        if kind == "model":
            run(self.program, "model", "attach", "--state", self.state(self.side), self.model)
        self.mount(self.side)
        seconds = self.download(count)
        run(self.program, "unmount", self.mountpoint(self.side))
        return seconds

    def end(self):
        if is_mounted(self.mountpoint(self.side)):
            run(self.program, "unmount", self.mountpoint(self.side))
        super().end()


def record(entity, name, fields):
    values = {f"CD_{field}": {"type": "STRING", **value} for field, value in fields.items()}
    values["CD_entityName"] = {"value": entity, "type": "STRING"}
    return {"recordName": name, "recordType": f"CD_{entity}", "fields": values}


def link(note, tag, number):
    return {"recordName": f"L{number}", "recordType": "CDMR", "fields": {
        "CD_entityNames": {"value": "Note:Tag", "type": "STRING"},
        "CD_recordNames": {"value": f"{note}:{tag}", "type": "STRING"},
        "CD_relationships": {"value": "tags:notes", "type": "STRING"}}}


def lines(row):
    yield f"{row['records']} records of objects, first download, records a second:"
    for kind, title in (("plain", "without a model"), ("model", "with the model")):
        yield f"  {title}: " + ", ".join(f"{rate:.0f}" for rate in row[kind])


def goals(row):
    ratio = statistics.median(row["plain"]) / statistics.median(row["model"])
    return [goal("first download of objects, time next to plain records", ratio, 1.5)]
