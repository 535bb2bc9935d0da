import RecordModel
import RecordServerCore
import RecordSync
import RecordWire

/// What a record server has at each moment of a history, read behind its wire after each request, and
/// whether each change of it may be. The engine has no part in it.
struct ServerWatch {
    /// A record as the server has it, or what is left of one.
    struct Version {
        let position: Int64
        let isDeleted: Bool
        /// Of one that is gone, that which it had.
        var type = Step.type
        /// The values, and the text of the file that some machine has written.
        let content: String
        let fileText: String?
        /// Those that edits have written, each of which says by whom it is.
        let values: Set<String>
    }

    struct FeedPlace {
        var end: Int64
        var begin: Int64
    }

    struct Zone {
        let incarnation: UInt64
        var position: Int64 = 0
        var records: [String: Version] = [:]
        /// Up to where the feed was told with each token, and where it began: of what was gone by then
        /// it does not tell.
        var tokens: [String: FeedPlace] = [:]
        /// Requests that have changed something.
        var done: Set<String> = []
    }

    /// A zone as it is read: those of its changes that are not known here.
    struct Reading: Sendable {
        let row: ZoneRow?
        let changes: [FeedEntry]

        /// - Parameter known: of the zone as it was read last.
        init(
            _ key: ZoneKey, _ reader: any StorageReader,
            _ known: (incarnation: UInt64, position: Int64)?
        ) throws(ServerError) {
            row = try reader.zone(key)
            let position = known?.incarnation == row?.incarnation ? known?.position : nil
            guard let row, row.position != position else {
                changes = []
                return
            }
            changes = try reader.changes(
                row.handle, after: position ?? 0, shares: nil, descending: false, limit: 1_000)
        }
    }

    private(set) var zones: [String: Zone] = [:]
    /// The values that records have had, one after the other, also before a restore.
    private var past: [Step.Key: [Set<String>]] = [:]
    private var problems: [String] = []

    /// What it has, and what is left of what it had.
    var versions: [Step.Key: Version] {
        var versions: [Step.Key: Version] = [:]
        for (zone, content) in zones {
            for (name, version) in content.records {
                versions[Step.Key(zone: zone, type: version.type, recordName: name)] = version
            }
        }
        return versions
    }

    /// What is wrong, since the last call.
    mutating func takeProblems() -> [String] {
        defer { problems = [] }
        return problems
    }

    /// The server was restored: what it has now is where its changes begin.
    mutating func forget() { zones = [:] }

    // MARK: Changes

    /// - Parameter device: the machine whose request was answered just now; nil when none was.
    mutating func read(
        _ name: String, _ reading: Reading, after device: Int?, _ oracle: Oracle
    ) {
        if let zone = zones[name], zone.incarnation != reading.row?.incarnation {
            zones[name] = nil
            for (record, version) in zone.records where !version.isDeleted {
                guard let device else { continue }
                let key = Step.Key(zone: name, type: version.type, recordName: record)
                judge(key, version, goneBy: device, oracle)
            }
        }
        guard let row = reading.row else { return }
        var zone = zones[name] ?? Zone(incarnation: row.incarnation)
        for entry in reading.changes {
            var (record, version) = Self.version(entry)
            let old = zone.records[record]
            if version.isDeleted, let old { version.type = old.type }
            let key = Step.Key(zone: name, type: version.type, recordName: record)
            if let device {
                judge(key, version, instead: old, by: device, oracle)
            }
            zone.records[record] = version
            if !version.isDeleted { past[key, default: []].append(version.values) }
        }
        zone.position = row.position
        zones[name] = zone
    }

    private static func version(_ entry: FeedEntry) -> (String, Version) {
        switch entry {
        case .gone(let name, let position): return (name.description, gone(position))
        case .record(let record) where record.isDeleted:
            return (record.name.description, gone(record.position))
        case .record(let record):
            let fields = String(decoding: record.fields, as: UTF8.self)
            let text = record.fileText?.string
            return (
                record.name.description,
                Version(
                    position: record.position, isDeleted: false,
                    type: record.type.description,
                    content: "\(fields) \(text ?? "")", fileText: text,
                    values: Set(Record.marks(in: fields)))
            )
        }
    }

    private static func gone(_ position: Int64) -> Version {
        Version(position: position, isDeleted: true, content: "", fileText: nil, values: [])
    }

    private mutating func judge(
        _ key: Step.Key, _ new: Version, instead old: Version?, by device: Int, _ oracle: Oracle
    ) {
        if new.isDeleted {
            if let old, !old.isDeleted { judge(key, old, goneBy: device, oracle) }
            return
        }
        for value in new.values where !oracle.isKnown(value) {
            problems.append("The server has \(value) in \(key), which nobody wrote.")
        }
        if let old, !old.isDeleted, old.content == new.content, !oracle.isUntraced(key),
            !oracle.mayBeRepeated(key)
        {
            problems.append("\(key) has another tag on the server, and nothing else is new.")
        }
    }

    /// Nothing is deleted without a cause: somebody has deleted it who knew all that it had.
    private mutating func judge(
        _ key: Step.Key, _ old: Version, goneBy device: Int, _ oracle: Oracle
    ) {
        if !oracle.hasDeleted(key, old.values, device: device),
            !isOfBackup(key, old, goneBy: device, oracle)
        {
            problems.append(
                "Device \(device) has deleted \(key) on the server, with "
                    + "\(old.values.sorted()), and nobody there did.")
        }
    }

    /// True when a restored server has got back what it had before that which somebody has deleted.
    private func isOfBackup(
        _ key: Step.Key, _ old: Version, goneBy device: Int, _ oracle: Oracle
    ) -> Bool {
        guard oracle.isRestored, let past = past[key], let place = past.firstIndex(of: old.values)
        else { return false }
        return past[place...].contains { oracle.hasDeleted(key, $0, device: device) }
    }

    // MARK: Requests

    /// Whether a request that was done before is done once more.
    /// - Parameter before: the position of its zone when it came.
    mutating func noteAnswered(_ body: JSONValue, before: Int64?) {
        guard let name = body["zoneID"]?["zoneName"]?.string?.string,
            let id = body["operationID"]?.string?.string, zones[name] != nil
        else { return }
        guard zones[name]?.position != before else { return }
        // What was refused may be done when it comes again.
        if zones[name]?.done.insert(id).inserted == false {
            problems.append("A request that was done is done again when it is repeated.")
        }
    }

    /// That of the zone that an upload is for.
    func position(ofZoneIn body: JSONValue) -> Int64? {
        body["zoneID"]?["zoneName"]?.string.flatMap { zones[$0.string]?.position }
    }

    /// Whether a delete says which version of a record it is of.
    mutating func look(at body: JSONValue) {
        for operation in body["operations"]?.array ?? [] {
            let type = operation["operationType"]?.string?.string ?? ""
            let tag = operation["record"]?["recordChangeTag"]?.string
            if type.hasPrefix("force") || type == "delete" && tag == nil {
                problems.append("An upload does not ask which version it replaces: \(type).")
            }
        }
    }

    // MARK: Feeds

    /// A page of a feed, as a machine gets it: what is new between two tokens, each once, in order.
    mutating func look(atPage answer: JSONValue, of body: JSONValue, limit: Int) {
        guard let page = answer["zones"]?.array?.first, page["serverErrorCode"] == nil,
            let name = page["zoneID"]?["zoneName"]?.string?.string, var zone = zones[name],
            let token = page["syncToken"]?.string?.string
        else { return }
        let old = body["zones"]?.array?.first?["syncToken"]?.string?.string
        let start = old.map { zone.tokens[$0] } ?? FeedPlace(end: 0, begin: zone.position)
        guard let start else { return }
        let entries = page["records"]?.array ?? []
        // Where the records have gone that had the names of others before.
        let departed = entries.filter { $0["movedTo"] != nil }.compactMap {
            $0["recordChangeTag"]?.string.flatMap { Int64($0.string, radix: 36) }
        }
        let told = entries.filter { $0["deleted"] != true || $0["recordChangeTag"] == nil }
            .compactMap { $0["recordName"]?.string?.string }
        func isToBeTold(_ version: Version) -> Bool {
            version.position > start.end
                && (!version.isDeleted || version.position > start.begin)
        }
        let news = zone.records.filter { isToBeTold($1) }
            .sorted { $0.value.position < $1.value.position }.map(\.key)
        let heard = told.filter {
            zone.records[$0].map { !$0.isDeleted || $0.position > start.begin } ?? true
        }
        let isWhole = page["moreComing"]?.bool != true
        if heard != Array(news.prefix(isWhole ? news.count : heard.count)) {
            problems.append("A page of \(name) has \(told), and new is \(news).")
        }
        if entries.count > limit {
            problems.append("A page of \(name) has \(entries.count) records, not \(limit).")
        }
        if departed != departed.sorted() || departed.contains(where: { $0 <= start.end }) {
            problems.append(
                "A page of \(name) tells of departures \(departed) behind \(start.end).")
        }
        let last = max(
            told.last.flatMap { zone.records[$0]?.position } ?? start.end, departed.last ?? 0)
        let place = FeedPlace(end: isWhole ? zone.position : last, begin: start.begin)
        zone.tokens[token] = place
        zones[name] = zone
    }
}
