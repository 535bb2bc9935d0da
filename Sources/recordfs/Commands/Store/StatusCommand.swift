import ArgumentParser
import RecordControl
import RecordDaemon
import RecordModel
import RecordStore
import RecordTree

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the mount, the zones, and changes that wait or failed.")

    @OptionGroup var state: StateOptions
    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        let access = try state.access()
        let store = try access.reader()
        let daemon = try access.reporting { () throws(RecordError) in
            try access.daemon(timeoutSeconds: 10)
        }
        let (counts, zones) = try access.reporting { () throws(RecordError) in
            let counts = try store.syncState.counts()
            var zones: [(String, StoreCounts.Zone)] = []
            for zone in counts.zones {
                guard let info = try store.zone(zone.zone) else { continue }
                let path = RecordPath(
                    database: info.database, owner: info.owner, zone: info.name)
                zones.append((path.description, zone))
            }
            return (counts, zones)
        }
        let scratch = try access.reporting { () throws(RecordError) in
            (
                kept: try ScratchUsage.scratch(stateDirectory: access.directory),
                trash: try ScratchUsage.trash(stateDirectory: access.directory),
                problems: try ScratchFile.all(in: store).count { $0.guess != nil }
            )
        }
        let awaited = try access.reporting { () throws(RecordError) in
            try store.refusals().filter(\.isAwaited).prefix(3)
        }
        let (requests, invitations) = try access.reporting { () throws(RecordError) in
            (try AccessRequests.all(in: store), try store.sharing.invitations())
        }
        let ended = try access.reporting { () throws(RecordError) in try EndedShares(of: store) }
        let readers = try access.reporting { () throws(RecordError) in
            try store.upkeep.versionsOfReaders()
        }
        let model = try ModelState(of: store, access)
        if json {
            showJSON(
                access, daemon, counts, zones, scratch, requests, invitations, ended, readers, model
            )
        } else {
            showText(access, daemon, counts, zones, scratch)
            for refusal in awaited { Terminal.print("\(refusal.error)") }
            for request in requests { Terminal.print(request.line) }
            for invitation in invitations { Terminal.print(invitation.line) }
            for line in ended.lines { Terminal.print(line) }
            for reader in readers where reader.versions > 0 { Terminal.print(reader.line) }
            for line in model.lines { Terminal.print(line.onOneLine) }
        }
    }

    private typealias Scratch = (kept: ScratchUsage, trash: ScratchUsage, problems: Int)

    private static func members(_ usage: ScratchUsage) -> JSONValue {
        .members(["files": .integer(usage.files), "size": .integer(usage.bytes)])
    }

    private func showJSON(
        _ access: StoreAccess, _ daemon: JSONValue?, _ counts: StoreCounts,
        _ zones: [(String, StoreCounts.Zone)], _ scratch: Scratch, _ requests: [AccessRequests],
        _ invitations: [Invitation], _ ended: EndedShares, _ readers: [HeldVersions],
        _ model: ModelState
    ) {
        let zones = zones.map { path, zone in
            JSONValue.members([
                "path": .text(path), "records": .integer(zone.records),
                "pending": .integer(zone.pending),
                "oldestPending": zone.oldestPending.map { .text(Showing.time($0)) },
                "drafts": .integer(zone.drafts), "refused": .integer(zone.refused),
                "conflicts": .integer(zone.conflicts),
                "passedOver": .integer(zone.passedOver),
            ])
        }
        Showing.json(
            .members([
                "version": .text(ProgramVersion.number), "state": .text(access.directory),
                "mounted": .bool(MountState(of: access, daemon).isServed),
                "daemon": daemon ?? .null, "zones": .array(zones),
                "trash": .integer(counts.trash), "versions": .integer(counts.historyRows),
                "databaseBytes": .integer(counts.databaseBytes),
                "scratch": Self.members(scratch.kept),
                "scratchProblems": .integer(Int64(scratch.problems)),
                "scratchTrash": Self.members(scratch.trash),
                "accessRequests": .array(requests.map(\.json)),
                "invitations": .array(invitations.map(\.json)),
                "unsentInTrash": .integer(Int64(ended.unsent)),
                "unshared": .array(ended.unshared.map(\.json)),
                "readers": .array(readers.map(\.json)), "model": model.json,
            ]))
    }

    private func showText(
        _ access: StoreAccess, _ daemon: JSONValue?, _ counts: StoreCounts,
        _ zones: [(String, StoreCounts.Zone)], _ scratch: Scratch
    ) {
        Terminal.print(MountState(of: access, daemon).description)
        for line in ExchangeState.lines(daemon, counts) { Terminal.print(line) }
        let unsaved = UnsavedRecords(of: daemon)
        if !unsaved.isEmpty { Terminal.print(unsaved.description(ofStore: access.directory)) }
        Terminal.print(
            "Store in \(access.directory), \(Showing.size(counts.databaseBytes)), "
                + "\(Showing.count(counts.historyRows, "version")), "
                + "\(Showing.count(counts.trash, "record")) in the trash")
        let retention = Retention()
        Terminal.print(
            "Versions stay for \(Showing.days(retention.versionAge)) and at least "
                + "\(retention.versions) of a record, the trash for "
                + "\(Showing.days(retention.trashAge)) (recordfs gc)")
        show(scratch, of: access)
        if zones.isEmpty {
            Terminal.print("No zones yet.")
            return
        }
        let hasServer = access.hasServer
        let rows = zones.map { path, zone in
            [
                path, "\(zone.records)", hasServer ? "\(zone.pending)" : "-", "\(zone.refused)",
                "\(zone.conflicts)",
                "\(zone.drafts)",
            ]
        }
        Terminal.printTable(
            [["ZONE", "RECORDS", "TO UPLOAD", "REFUSED", "CONFLICTS", "DRAFTS"]] + rows,
            rightAligned: [1, 2, 3, 4, 5])
        if counts.drafts > 0 {
            Terminal.print("Some texts could not be saved. recordfs draft list shows why.")
        }
    }
    /// Prints the scratch files. Groups that are empty are not mentioned.
    private func show(_ scratch: Scratch, of access: StoreAccess) {
        if scratch.kept.files > 0 {
            Terminal.print(
                "Scratch: \(Showing.count(scratch.kept.files, "file")), "
                    + "\(Showing.size(scratch.kept.bytes)), on this machine only")
        }
        if scratch.problems > 0 {
            let names =
                scratch.problems == 1
                ? "1 of their names looks" : "\(scratch.problems) of their names look"
            Terminal.print("\(names) like a mistake. recordfs scratch --problems shows it.")
        }
        if scratch.trash.files > 0 {
            Terminal.print(
                "\(Showing.count(scratch.trash.files, "temporary file")) of tools in "
                    + "\(access.directory)/scratch-trash, for 30 days")
        }
    }
}

/// The requests for access to shared objects of this store.
private struct AccessRequests {
    let path: String
    let count: Int

    var line: String {
        "\(count == 1 ? "1 person asks" : "\(count) people ask") for access: "
            + "recordfs share requests \(path)"
    }

    var json: JSONValue {
        .members(["path": .text(path), "requests": .integer(Int64(count))])
    }

    static func all(in store: RecordStore) throws(RecordError) -> [AccessRequests] {
        var found: [AccessRequests] = []
        for zone in try store.zones(in: .private) + store.zones(in: .shared) {
            for share in try store.sharing.shares(in: zone.id) {
                let count = try JSONParser.parse(share.text)["requests"]?.array?.count ?? 0
                guard count > 0 else { continue }
                let path = try RecordPath(of: share, in: zone, store)
                found.append(AccessRequests(path: path.description, count: count))
            }
        }
        return found
    }
}

/// The records that ended shares have left behind: in the trash, and in your own zones.
private struct EndedShares {
    /// The time for which status mentions the records that an ended share has left behind.
    private static let patience = Duration.seconds(7 * 86_400)

    struct Unshared {
        /// The path of the deleted root.
        let path: String
        let at: Timestamp
        /// The records that still exist.
        let records: [String]

        var json: JSONValue {
            .members([
                "path": .text(path), "time": .text(Showing.time(at)),
                "records": .array(records.map { .text($0) }),
            ])
        }
    }

    /// The number of records of others with edits that were not sent.
    let unsent: Int
    let unshared: [Unshared]

    init(of store: RecordStore) throws(RecordError) {
        unsent = try store.sharing.ownTrashCount()
        var found: [Unshared] = []
        for records in try store.sharing.unsharedRecords(since: SystemClock().now - Self.patience) {
            guard let zone = try store.past.keptZone(records.zone) else { continue }
            var left: [RecordName] = []
            for name in records.children where try store.record(named: name, in: zone.id) != nil {
                left.append(name)
            }
            guard !left.isEmpty else { continue }
            let place = RecordPath(database: zone.database, owner: zone.owner, zone: zone.name)
            found.append(
                Unshared(
                    path: try place.shown(records.root, in: zone.id, of: store), at: records.at,
                    records: left.map(\.description)))
        }
        unshared = found
    }

    var lines: [String] {
        var lines = unshared.map { ended in
            "The share of \(ended.path) ended with its record. Its children stay with you, "
                + "shared with nobody: \(ended.records.joined(separator: ", "))"
        }
        if unsent > 0 {
            lines.append(
                "The trash has \(Showing.count(Int64(unsent), "record")) with edits that you had not sent "
                    + "when a share ended: ls .recordfs/trash/shared")
        }
        return lines.map(\.onOneLine)
    }
}
