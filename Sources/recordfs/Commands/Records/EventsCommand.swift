import ArgumentParser
import RecordControl
import RecordModel
import RecordStore
import RecordStoreSync
import RecordTree

struct EventsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "List the changes, oldest first, one per line.",
        discussion: """
            The list has every save whose version is still kept, from this machine and from \
            others, with or without a mount. A program that keeps the last token can continue with \
            --after, and misses nothing. --sync lists the exchange with the record server instead: \
            its imports and exports, and the errors.
            """)

    @OptionGroup var state: StateOptions
    @Option(help: "List only the changes after the one with this token; 0 for all.")
    var after: Int64?
    @Flag(name: .shortAndLong, help: "Then print new changes as they happen, until Ctrl-C.")
    var follow = false
    @Flag(help: "Print one JSON object for each change.")
    var json = false
    @Flag(help: "List the exchange with the record server; --after takes its own numbers.")
    var sync = false

    @Option(help: "List only changes of this kind, such as created, updated, deleted, restored.")
    var kind: [String] = []
    @Option(help: "List only the changes of this database: private, shared, public or local.")
    var database: String?
    @Flag(help: "With --sync: list only the exchanges that failed.")
    var failed = false
    @Option(help: "List at most this many changes, the latest ones.")
    var last: Int?

    func validate() throws {
        if failed, !sync { throw ValidationError("--failed is for --sync.") }
        if last != nil, after != nil { throw ValidationError("--last and --after do not fit.") }
        if let database, Database(name: database) == nil {
            throw ValidationError("--database is private, shared, public or local.")
        }
        let kinds =
            (sync ? SyncEvent.Kind.allCases.map(\.rawValue) : ChangeKind.allCases.map(\.rawValue))
        for kind in kind where !kinds.contains(kind) {
            throw ValidationError("--kind is one of \(kinds.joined(separator: ", ")).")
        }
    }

    private func isShown(kind: String, in database: Database?) -> Bool {
        (self.kind.isEmpty || self.kind.contains(kind))
            && (self.database == nil || database?.name == self.database)
    }

    /// The number of events that are read at a time.
    private static let page = 1_000

    func run() throws {
        let access = try state.access()
        let store = try access.reader()
        try access.reporting { () throws(RecordError) in
            // Before the first read, so that no change between the two is missed.
            let watch = follow ? try DirectoryWatch(directory: access.directory) : nil
            var last = after ?? 0
            if let count = self.last {
                let end = try sync ? store.syncState.lastSyncEvent() : store.past.lastToken()
                last = max(0, end - Int64(max(0, count)))
            } else if after == nil, follow {
                last = try sync ? store.syncState.lastSyncEvent() : store.past.lastToken()
            }
            var zones: [ZoneID: SyncedZone] = [:]
            while true {
                let count =
                    try sync
                    ? showExchange(store, after: &last, &zones)
                    : showChanges(store, after: &last, &zones)
                if count == Self.page { continue }
                guard let watch else { return }
                watch.wait()
            }
        }
    }

    private func showChanges(
        _ store: RecordStore, after last: inout Int64, _ zones: inout [ZoneID: SyncedZone]
    ) throws(RecordError) -> Int {
        let changes = try store.past.versions(after: last, limit: Self.page)
        for (version, zone) in changes {
            if zones[zone] == nil { zones[zone] = try store.syncState.syncedZone(zone) }
            if isShown(kind: version.kind.rawValue, in: zones[zone]?.database) {
                show(version, version.path(in: zones[zone]))
            }
            last = version.token
        }
        return changes.count
    }

    private func showExchange(
        _ store: RecordStore, after last: inout Int64, _ zones: inout [ZoneID: SyncedZone]
    ) throws(RecordError) -> Int {
        let events = try store.syncState.syncEvents(after: last, limit: Self.page)
        for event in events {
            if let zone = event.zone, zones[zone] == nil {
                zones[zone] = try store.syncState.syncedZone(zone)
            }
            if isShown(kind: event.kind.rawValue, in: event.database),
                !failed || event.error != nil
            {
                show(event, event.zone.flatMap { zones[$0] })
            }
            last = event.id
        }
        return events.count
    }

    private func show(_ event: SyncEvent, _ zone: SyncedZone?) {
        let path = RecordPath(
            database: event.database, owner: zone?.shownOwner ?? .me, zone: zone?.name
        ).description
        guard !json else {
            Showing.jsonLine(.object(event.members + [JSONMember(key: "path", value: .text(path))]))
            return
        }
        let what = event.error ?? Showing.count(Int(clamping: event.records), "record")
        Terminal.print(
            "\(event.id)  \(Showing.time(event.end))  \(event.kind.rawValue.padded(to: 6))  "
                + "\(path)  \(what)")
    }

    private func show(_ version: Version, _ path: String) {
        guard json else {
            Terminal.print(version.line(path))
            return
        }
        Showing.jsonLine(
            .members([
                "token": .integer(version.token), "at": .text(Showing.time(version.at)),
                "author": .text(version.author.rawValue), "change": .text(version.kind.rawValue),
                "path": .text(path), "size": .integer(version.size),
            ]))
    }
}

extension Version {
    /// Returns the path of the record, also in a zone that was removed since.
    func path(in zone: SyncedZone?) -> String {
        RecordPath(
            database: zone?.database, owner: zone?.shownOwner ?? .me, zone: zone?.name,
            type: type, item: .record(Stem(encoding: name))
        ).description
    }

    func line(_ path: String) -> String {
        let author = author.rawValue.padded(to: 7)
        let kind = kind.rawValue.padded(to: 8)
        return "\(token)  \(Showing.time(at))  \(author)  \(kind)  \(path)"
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}
