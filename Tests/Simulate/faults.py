"""Plants one fault after the other into a copy of the engine, and says how many histories it takes to
find each.

    scripts/simulate --faults [--seeds N] [--only WORDS] [--skip N]

Those about sharing, of sharing_faults.py, are looked for in histories of several users, those about
relationships, of graph_faults.py, in histories of graphs, those about undo, of undo_faults.py, in histories
of machines that take steps back, all others in those
of three and four machines and then in those of two. A fault that is not found within N seeds (2 000) is an error, as is one whose place in the source is
not found any more, or that does not compile; `--places` looks for the places alone.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys

import graph_faults
import sharing_faults
import undo_faults

STORE = "Sources/RecordStore/"
STORE_SYNC = "Sources/RecordStoreSync/"
DECISION = "Sources/RecordStoreSync/Merging/RemoteDecision.swift"
SYNC = "Sources/RecordSync/"
SERVER = "Sources/RecordServerCore/"

# Name, file, what stands there, what stands there instead.
FAULTS = [
    (
        "an update is not put into the outbox",
        STORE + "Uploading/Outbox+Outbox.swift",
        "if operation == .update {\n            return try",
        "if operation == .update {\n            if generation > 0 { return }\n            return try",
    ),
    (
        "a request without an answer is not sent again under its identifier",
        SYNC + "Engine/Exchange+Requests.swift",
        "if settings.hasExtensions, let batch",
        "if settings.claims.records < 0, let batch",
    ),
    (
        "a request that is sent again and finds its records deleted makes them again",
        SYNC + "Upload/UploadResults.swift",
        "isDelete(name) ? .deleted : .savedAndGone",
        "isDelete(name) ? .deleted : .gone",
    ),
    (
        "what is on its way when the engine ends is forgotten",
        STORE + "Uploading/Outbox+Outbox.swift",
        'try failOutbox(id, error: nil)\n        }\n    }',
        'try transaction.connection.run("DELETE FROM outbox WHERE id = ?", [.integer(id)])\n        }\n    }',
    ),
    (
        "an answer that got lost counts as taken",
        SYNC + "Engine/Exchange+Results.swift",
        "case .unsent: try transaction.outbox.failOutbox(claim.row.id, error: nil)",
        'case .unsent: try transaction.outbox.completeOutbox(claim, changeTag: claim.base?.changeTag ?? "")',
    ),
    (
        "the base stays old when the server has taken an edit",
        STORE_SYNC + "Uploading/Outbox+Completing.swift",
        "return try transaction.merging.putBase(record.id, changeTag, sent, claim.textOnServer)",
        "return",
    ),
    (
        "a page overwrites what was not sent yet",
        STORE_SYNC + "Applying/RemoteApplication+Applying.swift",
        "if !isEditPending {",
        "if !isEditPending || zone.rawValue > 0 {",
    ),
    (
        "records are merged as a whole",
        "Sources/RecordModel/Document/FieldMerge.swift",
        "if isSame(mine, theirs) || isSame(mine, base[name]) {",
        "if isSame(mine, theirs) {",
    ),
    (
        "the value that loses is not kept",
        DECISION,
        "} else if !merged.conflicts.isEmpty {",
        "} else if merged.conflicts.count > 100 {",
    ),
    (
        "a deletion elsewhere wins against an edit",
        STORE_SYNC + "Applying/RemoteApplication+Applying.swift",
        "if known.isPending, existing.state != .waitingDelete, try pendingEdit(change.name),",
        "if known.isPending, existing.state != .waitingDelete, zone.rawValue < 0,",
    ),
    (
        "a deletion here wins against an edit elsewhere",
        STORE_SYNC + "Applying/RemoteApplication+Pending.swift",
        "if let base, base.changeTag == change.changeTag {\n            return true",
        "if let base, base.changeTag != \"\" {\n            return true",
    ),
    (
        "a delete is sent without its tag",
        SYNC + "Upload/RecordOperation+Claim.swift",
        "            self.init(type: .delete, record: record)",
        "            record.changeTag = nil\n            self.init(type: .forceDelete, record: record)",
    ),
    (
        "what is gone stays when a feed begins anew",
        STORE_SYNC + "Applying/FeedApplying+Remote.swift",
        "guard let pass else { return nil }",
        "guard let pass, pass < 0 else { return nil }",
    ),
    (
        "a deletion that waits takes an edit along which has lost",
        DECISION,
        "merged.text == news.text && merged.conflicts.isEmpty",
        "merged.text == news.text",
    ),
    (
        "an edit of what was renamed is also sent under the old name",
        STORE_SYNC + "Applying/RemoteApplication+Moved.swift",
        "if isRenamed, isPending { try forgetPending(change.name) }",
        "",
    ),
    (
        "records that have changed places wait for each other",
        STORE_SYNC + "Uploading/Outbox+Claims.swift",
        "return try !connection.isCircular(update)",
        "return true",
    ),
    (
        "what comes back to its old name is printed, and not as it was written",
        STORE_SYNC + "Applying/RemoteApplication+Moved.swift",
        "shown, remote, since: edit.base,",
        "remote.text, remote, since: edit.base,",
    ),
    (
        "a field that was removed is not removed there",
        SYNC + "Upload/RecordOperation+Claim.swift",
        "for name in claim.changedFields where !claim.isTaken(name) {",
        "for name in claim.changedFields where !claim.isTaken(name) && document[name] != nil {",
    ),
    (
        "the token of a page is kept, and every third record of it is not",
        STORE_SYNC + "Applying/FeedApplying+Remote.swift",
        "for change in page.changes { results.append(try application.apply(change)) }",
        "for (number, change) in page.changes.enumerated() where number % 3 != 2 {\n"
        "            results.append(try application.apply(change))\n        }",
    ),
    (
        "what a restored server has lost is deleted here",
        STORE_SYNC + "Applying/FeedApplying+Remote.swift",
        "let isBehind = application.restoredPass != nil",
        "let isBehind = application.restoredPass == -1",
    ),
    (
        "what a restored server has counts as news",
        STORE_SYNC + "Applying/RemoteApplication+ServerRestore.swift",
        "return pass.map { $0 != restoredPass } ?? false",
        "return pass.map { $0 != restoredPass && $0 == -1 } ?? false",
    ),
    (
        "a file that is only written anew is not sent",
        "Sources/RecordStore/Writing/Records/RecordWriting+Save.swift",
        "if changed.isEmpty {\n            try transaction.outbox.enqueue(",
        "if changed.isEmpty {\n"
        "            if existing.generation > 0 {\n"
        "                return try keepValues(existing, new, textChanged: true)\n            }\n"
        "            try transaction.outbox.enqueue(",
    ),
    (
        "both changes of a text by lines are not both kept",
        "Sources/RecordModel/Document/LineMerge.swift",
        "if left.elementsEqual(old) {\n                merged += right",
        "if left.elementsEqual(old) {\n                merged += left",
    ),
    (
        "the token of a page is not kept",
        STORE_SYNC + "Applying/FeedApplying+Remote.swift",
        "if let token = page.token { try setFeedToken",
        "if let token = page.token, page.isLast { try setFeedToken",
    ),
    (
        "a change that is refused for a while counts as done",
        SYNC + "Upload/UploadResults.swift",
        "case .retry, .signIn, .findZone: problem = .refused(error)\n        case .park, .split",
        "case .retry: set(name, .deleted)\n"
        "        case .signIn, .findZone: problem = .refused(error)\n        case .park, .split",
    ),
    (
        "bytes that did not arrive are given up",
        SYNC + "Assets/AssetExchange+Upload.swift",
        "case .failure(let error): problem = error",
        'case .failure(let error): results.park(asset.place.record, "\\(error)")',
    ),
    (
        "what waits of a record is forgotten in all zones",
        STORE_SYNC + "Applying/RemoteApplication+Pending.swift",
        '"DELETE FROM outbox WHERE zone_id = ? AND name = ? AND batch = 0"',
        '"DELETE FROM outbox WHERE ? > 0 AND name = ? AND batch = 0"',
    ),
    (
        "a store that is opened has lost its last text",
        STORE + "Uploading/Outbox+Outbox.swift",
        "guard let batch, batch > 1 else { return }",
        "guard let batch, batch > 1 else { return }\n"
        "        try transaction.connection.run(\n"
        '            "DELETE FROM history WHERE token = (SELECT max(version) FROM record)")',
    ),
    (
        "a deletion that nobody made goes with an upload",
        SYNC + "Upload/RecordOperation+Claim.swift",
        "self.init(type: claim.base == nil ? .create : .update, record: record)",
        "let isGone = claim.base != nil && document.fields.count == 1\n"
        "        self.init(\n"
        "            type: isGone ? .delete : claim.base == nil ? .create : .update, record: record)",
    ),
    (
        "a file that is there already is sent again",
        DECISION,
        "if hasTheirValues, file.text == nil || file.text == text, !file.isMissingThere(news) {",
        "if hasTheirValues, file.text == nil || file.text == text, !file.isMissingThere(news), news.isPending {",
    ),
    (
        "a request has a number that another one had",
        SYNC + "Engine/Exchange+Requests.swift",
        "String(UInt64.random(in: 0...UInt64.max), radix: 36)",
        "String(UInt64.random(in: 0...1), radix: 36)",
    ),
    (
        "a change of somebody else is taken for an own one",
        SERVER + "Feeds/KnownFeeds.swift",
        "guard zone.position == access.zone.position else { return nil }",
        "guard zone.position <= access.zone.position else { return nil }",
    ),
    (
        "the machine whose edit lost does not hear of it",
        STORE_SYNC + "Applying/RemoteApplication+Stamps.swift",
        "guard update.change.stamps.contains(where: { !$0.value.losers.isEmpty }) else { return }",
        "guard update.change.stamps.contains(where: { $0.value.losers.count > 100 }) else { return }",
    ),
    (
        "a record that is made anew has no stamps",
        STORE_SYNC + "Applying/RemoteApplication+Stamps.swift",
        "SET sent = COALESCE(sent, ?3), (base_version,",
        "SET sent = CASE WHEN ?3 < 0 THEN 0 END, (base_version,",
    ),
    (
        "bytes that nobody has are looked for again and again",
        STORE + "Uploading/Outbox+MissingBytes.swift",
        "looksForBytes: Int64 = 3",
        "looksForBytes: Int64 = 3_000",
    ),
    (
        "the server does a request again that it has done",
        SERVER + "Batches/RecordBatches.swift",
        "let outcome = OperationOutcome(stored)\n        {",
        "let outcome = OperationOutcome(stored), request.items.isEmpty\n        {",
    ),
    (
        "a token of the server is one change too far",
        SERVER + "Feeds/FeedPage.swift",
        "            access: access, position: position, start: token.start,",
        "            access: access, position: min(position + 1, access.zone.position),\n"
        "            start: token.start,",
    ),
    (
        "what a record shows as is settled when it comes",
        "Sources/RecordStore/Writing/Records/RecordWriting+Stems.swift",
        "if stem != record.entry.stem { try setStem(of: record, to: stem, place) }",
        "if stem != record.entry.stem, name.bytes.isEmpty {\n"
        "            try setStem(of: record, to: stem, place)\n        }",
    ),
    (
        "a move is a deletion, and a record that is new",
        SYNC + "Upload/RecordOperation+Claim.swift",
        "if hasExtensions { record.movedTo = claim.movedTo }",
        "if hasExtensions, claim.row.name.bytes.isEmpty { record.movedTo = claim.movedTo }",
    ),
    (
        "a large field whose bytes are not here counts as an empty one",
        "Sources/RecordStore/Writing/Assets/AttachedAssets.swift",
        "AssetFiles(places: transaction.store.places).size(of: $0) }\n                == asset.size\n    }",
        "AssetFiles(places: transaction.store.places).size(of: $0) }\n                ?? 0 <= asset.size\n    }",
    ),
]


class NotCompiled(Exception):
    pass


def build(root):
    # A debug build compiles little again for each fault, and few histories are needed to find one.
    command = ["swift", "build", "-debug-info-format", "none", "--product", "simulate"]
    result = subprocess.run(command, cwd=root, capture_output=True, text=True)
    if result.returncode != 0:
        errors = [line for line in result.stdout.splitlines() if "error:" in line]
        raise NotCompiled("\n    ".join(errors[:5]) or result.stderr[-4000:])
    return subprocess.run(
        command + ["--show-bin-path"], cwd=root, capture_output=True, text=True, check=True
    ).stdout.strip() + "/simulate"


ALL = FAULTS + sharing_faults.FAULTS + graph_faults.FAULTS + undo_faults.FAULTS


def histories(fault):
    """The options of the histories that look for a fault."""
    if fault in sharing_faults.FAULTS:
        return [["--sharing"]]
    if fault in undo_faults.FAULTS:
        return [["--undo"]]
    return [["--graphs"]] if fault in graph_faults.FAULTS else [["--wide"], []]


def look(root):
    """Whether the source has the place of each fault once."""
    wrong = 0
    for name, path, old, _ in ALL:
        count = pathlib.Path(root, path).read_text().count(old)
        if count != 1:
            wrong += 1
            print(f"{path} has the place of a fault {count} times: {name}", file=sys.stderr)
    sys.exit(1 if wrong else 0)


def find(root, fault, seeds):
    """The first seed that ends wrong, and how."""
    _, path, old, new = fault
    file = pathlib.Path(root, path)
    text = file.read_text()
    file.write_text(text.replace(old, new))
    try:
        program = build(root)
        for options in histories(fault):
            result = subprocess.run(
                [program, "--seeds", str(seeds), "--first-failure", *options],
                capture_output=True,
                text=True,
            )
            found = re.findall(r"seed (\d+): (.*)", result.stdout)
            if found:
                return found
        return []
    finally:
        file.write_text(text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=2000)
    parser.add_argument("--only", help="faults whose names have this in them")
    parser.add_argument("--skip", type=int, default=0, help="faults at the beginning")
    parser.add_argument("--places", action="store_true", help="plant nothing")
    parser.add_argument(
        "copy", nargs="?", help="a folder for the copy that the faults are planted in"
    )
    arguments = parser.parse_args()
    source = pathlib.Path(__file__).resolve().parents[2]
    if arguments.places:
        look(source)
    root = pathlib.Path(arguments.copy)
    root.mkdir(parents=True, exist_ok=True)
    for part in ["Sources", "Tests"]:
        shutil.rmtree(root / part, ignore_errors=True)
        shutil.copytree(source / part, root / part)
    shutil.copy(source / "Package.swift", root)
    missed = 0
    for fault in ALL[arguments.skip :]:
        if arguments.only and arguments.only not in fault[0]:
            continue
        try:
            found = find(root, fault, arguments.seeds)
        except NotCompiled as error:
            missed += 1
            print(f"DOES NOT COMPILE   : {fault[0]}\n    {error}", flush=True)
            continue
        if found:
            seed, problem = found[0]
            print(f"found by seed {seed:>5}: {fault[0]}\n    {problem}", flush=True)
        else:
            missed += 1
            print(f"NOT FOUND          : {fault[0]}", flush=True)
    sys.exit(f"{missed} faults were not found in {arguments.seeds} histories" if missed else 0)


if __name__ == "__main__":
    main()
