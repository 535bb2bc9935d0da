import ArgumentParser
import RecordControl
import RecordModel
import RecordStore

struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Bring back deleted records, or earlier versions of records.",
        discussion: """
            -r brings back every deleted record at or below PATH. --since restores every record at \
            or below PATH to its content at that time: deleted records come back, changed records \
            get their old content, and records that were created since then stay, unless you add --exact. All of it is one \
            transaction. The replaced versions stay in the history, so you can undo a restore. \
            --dry-run shows what would be done. A refused text stays in the file of its record and \
            hides the restored version; recordfs draft discard removes it.
            """)

    @OptionGroup var state: StateOptions
    @OptionGroup var author: AuthorOptions
    @Flag(help: "List the trash of a zone or record type.")
    var list = false
    @Flag(help: "With --list or --dry-run: print one JSON object for each record.")
    var json = false
    @Option(
        help: ArgumentHelp(
            "Restore this version; recordfs history lists the versions.", valueName: "token"))
    var token: Int64?
    @Flag(name: .shortAndLong, help: "Bring back every deleted record at or below the path.")
    var recursive = false
    @Option(
        name: [.customLong("since"), .customLong("at")],
        help: ArgumentHelp(
            "Restore this moment: 10m, 2h or 3d ago, yesterday 18:00, a date or time, @TOKEN, the "
                + "moment after that version, or a name that recordfs moment has given.",
            valueName: "time"))
    var since: RestorePoint?
    @Flag(help: "With --since: also remove the records that were created since then.")
    var exact = false
    @Flag(
        name: [.customShort("n"), .long], help: "With -r or --since: only show what would be done.")
    var dryRun = false
    @Argument(
        help: "The record; with -r or --since also a directory; with --list a zone or record type.")
    var path: PathArgument

    func validate() throws {
        let ways = [list, token != nil, recursive || since != nil].count { $0 }
        guard ways <= 1 else {
            throw ValidationError("--list, --token and -r or --since are different things to do.")
        }
        guard !dryRun || recursive || since != nil else {
            throw ValidationError("--dry-run is for -r and --since.")
        }
        guard !exact || since != nil else { throw ValidationError("--exact is for --since.") }
    }

    func run() throws {
        let place = try path.located(by: state)
        if list { return try listTrash(place) }
        if recursive || since != nil {
            return try restoreAll(place, to: since.map(place.store.resolved) ?? .deletion)
        }
        guard place.path.stem != nil else {
            throw CommandFailure(
                path.text, "is not a record. Write DATABASE/ZONE/TYPE/NAME, or add -r or --list.",
                status: ExitStatus.usage)
        }
        let reply = try place.store.perform(
            .restore(place.path, version: token), about: path.text)
        guard reply.result["keptDraft"]?.bool == true else { return }
        let subject = place.store.subject(path.text) ?? path.text
        Terminal.error(
            "\(subject): the file shows its draft, over the version that is back. "
                + "recordfs draft discard \(path.text) drops the draft.")
    }

    private func restoreAll(_ place: LocatedPath, to point: RestorePoint) throws {
        guard dryRun else {
            let reply = try place.store.perform(
                .restoreAll(place.path, point, isExact: exact), about: path.text)
            Terminal.error(
                Self.summary(of: reply.result, place, ["brought back", "changed back", "removed"]))
            return
        }
        let store = try place.store.reader()
        let plan = try place.reporting { () throws(RecordError) in
            try store.checkWasThere(place.path)
            return try store.past.restorePlan(
                try place.path.restoreScope, to: point, isExact: exact)
        }
        show(plan, PathSpelling(for: place.store))
        Terminal.error(
            Self.summary(
                of: plan.json, place,
                ["would come back", "would be changed back", "would be removed"]))
    }

    private static func summary(
        of counts: JSONValue, _ place: LocatedPath, _ words: [String]
    ) -> String {
        func count(_ key: String) -> Int64 { counts.integerMember(key) ?? 0 }
        var parts = [
            "\(Showing.grouped(count("broughtBack"))) \(words[0])",
            "\(Showing.grouped(count("changedBack"))) \(words[1])",
        ]
        if count("removed") > 0 {
            parts.append("\(Showing.grouped(count("removed"))) \(words[2])")
        }
        if count("madeSince") > 0 {
            parts.append("\(Showing.grouped(count("madeSince"))) made since stay")
        }
        if count("inTheWay") > 0 {
            parts.append(
                "\(Showing.grouped(count("inTheWay"))) not, because another record has the name")
        }
        if count("draftsKept") > 0 {
            parts.append(
                "\(Showing.count(count("draftsKept"), "draft")) kept (recordfs draft list)")
        }
        let subject = place.store.subject(place.text) ?? place.text
        let isNothing = count("broughtBack") + count("changedBack") + count("removed") == 0
        // A record that did not exist then has no earlier state.
        let hint =
            isNothing && count("madeSince") > 0
            ? "; to undo only later changes, name a version: recordfs events --last "
                + "100, then --since TOKEN" : ""
        return "\(subject): " + parts.joined(separator: ", ") + hint
    }

    private func show(_ plan: RestorePlan, _ spelling: PathSpelling) {
        if json {
            for step in plan.steps { Showing.jsonLine(step.json) }
            return
        }
        guard !plan.steps.isEmpty else { return }
        let rows = plan.steps.map { step in
            let change =
                step.isRemoval ? "remove" : step.wasDeleted ? "bring back" : "change back"
            return [
                step.keepsDraft ? "\(change), draft stays" : change,
                "\(step.laterVersions)", Showing.time(step.lastChange), step.lastAuthor,
                String(decoding: spelling.spell(step.path.bytes), as: UTF8.self),
            ]
        }
        Terminal.printTable(
            [["", "SET ASIDE", "LAST CHANGE", "AUTHOR", "RECORD"]] + rows, rightAligned: [1])
    }

    private func listTrash(_ place: LocatedPath) throws {
        let target = place.path
        guard target.zone != nil else {
            throw CommandFailure(
                path.text,
                "is not a zone. Write recordfs restore --list DATABASE/ZONE, or "
                    + "DATABASE/ZONE/TYPE.", status: ExitStatus.usage)
        }
        let store = try place.store.reader()
        let entries = try place.reporting { () throws(RecordError) in
            try store.past.trash(in: try store.keptZone(at: target).id, type: target.type)
        }
        let zone = RecordPath(database: target.database, owner: target.owner, zone: target.zone)
        if json {
            for entry in entries {
                Showing.jsonLine(
                    .members([
                        "path": .text("\(zone)/\(entry.type)/\(entry.stem).json"),
                        "deleted": .text(Showing.time(entry.deleted)),
                        "author": .text(entry.author.rawValue), "size": .integer(entry.size),
                    ]))
            }
            return
        }
        let spelling = PathSpelling(for: place.store)
        Terminal.printTable(
            entries.map {
                let path = Array("\(zone)/\($0.type)/\($0.stem).json".utf8)
                return [
                    Showing.time($0.deleted), $0.author.rawValue,
                    String(decoding: spelling.spell(path), as: UTF8.self),
                ]
            })
    }
}

extension RestoreStep {
    fileprivate var path: RecordPath {
        RecordPath(
            database: zone.database, owner: zone.owner, zone: zone.name, type: type,
            item: .record(stem))
    }

    fileprivate var json: JSONValue {
        .members([
            "path": .text(path.bytes), "deleted": .bool(wasDeleted),
            "remove": .bool(isRemoval),
            "setAside": .integer(laterVersions), "lastChange": .text(Showing.time(lastChange)),
            "author": .text(lastAuthor), "draftStays": .bool(keepsDraft),
        ])
    }
}
