import RecordControl
import RecordModel
import RecordStore
import RecordSync

/// Lists the former states of records that the server of an account keeps.
struct ServerHistoryListing {
    /// The number of states that are asked for.
    private static let limit = 10_000

    let place: LocatedPath
    let json: Bool

    /// - Parameter show: prints the text of this state only.
    func run(show: String?) throws {
        guard place.path.database == .private, let zone = place.path.zone else {
            throw CommandFailure(
                place.text, "is not in a zone of private/: the server keeps no other history.")
        }
        let versions = try versions(in: zone)
        if let show {
            guard let version = versions.first(where: { $0.tag.string == show }) else {
                throw CommandFailure(
                    place.text, "the server has no state \(show) of it.",
                    status: ExitStatus.notFound)
            }
            return Terminal.print(version.text)
        }
        guard !versions.isEmpty else {
            throw CommandFailure(
                place.text,
                "the server keeps no former state of it. It keeps what saves and removals have "
                    + "replaced, for a while.", status: ExitStatus.notFound)
        }
        if json {
            for version in versions {
                Showing.jsonLine(Self.json(version, path(version, in: zone)))
            }
            return
        }
        let rows = versions.map { version in
            [
                version.tag.string, Showing.time(version.saved), Self.author(version.origin),
                (version.isDeletion ? "removed " : "replaced ") + Showing.time(version.replaced),
                Self.author(version.replacing), Showing.size(Int64(version.text.count)),
                path(version, in: zone),
            ]
        }
        Terminal.printTable(
            [["STATE", "SAVED", "BY", "UNTIL", "BY", "SIZE", "PATH"]] + rows)
    }

    private func versions(in zone: ZoneName) throws -> [ServerHistory.Version] {
        let session = try AccountSession(place.store)
        guard session.account.profile == .recordfs else {
            throw CommandFailure(
                session.account.server, "keeps no history: that is an extension of recordfs-server."
            )
        }
        var found: [ServerHistory.Version] = []
        try session.exclusively {
            for name in try names() {
                found += try session.waiting { transport throws(SyncProblem) in
                    try await ServerHistory(transport).versions(
                        in: zone, of: name, limit: Self.limit)
                }
            }
        }
        guard let type = place.path.type else { return found }
        return found.filter { $0.type == type }
    }

    /// Returns the names that the record of the path can have; nil for all records of the zone.
    private func names() throws -> [RecordName?] {
        guard let type = place.path.type, let stem = place.path.stem else { return [nil] }
        let store = try place.store.reader()
        return try place.reporting { () throws(RecordError) in
            try store.possibleNames(of: stem, type, at: place.path)
        }
    }

    private func path(_ version: ServerHistory.Version, in zone: ZoneName) -> String {
        let stem = Stem(encoding: version.name)
        let path = RecordPath(
            database: .private, owner: .me, zone: zone, type: version.type, item: .record(stem))
        return String(
            decoding: PathSpelling(for: place.store).spell(path.bytes), as: UTF8.self)
    }

    private static func author(_ origin: GestureOrigin?) -> String {
        origin.map { $0.program?.text ?? $0.tool?.onOneLine ?? $0.author.rawValue } ?? "-"
    }

    private static func json(_ version: ServerHistory.Version, _ path: String) -> JSONValue {
        func members(_ time: Timestamp, _ origin: GestureOrigin?) -> JSONValue {
            .members([
                "time": .text(Showing.time(time)),
                "id": (origin?.name.text).map { .text($0) } ?? .null,
                "author": origin.map { .text($0.program?.text ?? $0.author.rawValue) } ?? .null,
                "program": (origin?.tool).map { .text($0) } ?? .null,
            ])
        }
        return .members([
            "state": .text(version.tag.string), "path": .text(path),
            "saved": members(version.saved, version.origin),
            "ended": members(version.replaced, version.replacing),
            "change": .text(version.isDeletion ? "removed" : "replaced"),
            "size": .integer(Int64(version.text.count)), "text": .text(version.text),
        ])
    }
}
