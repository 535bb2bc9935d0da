package import RecordModel
import RecordSQL

extension SharedContent {
    /// Notes the children of a root that this account has deleted, as the server reports them. The
    /// server has ended the share together with its root. This is reported, and kept for status.
    package func noteUnshared(
        _ children: [RecordName], of root: RecordName, in zone: ZoneID
    ) throws(RecordError) {
        let records = UnsharedRecords(
            zone: zone, root: root, children: children, at: transaction.now)
        try transaction.connection.run(
            "INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)",
            [
                .text("unshared \(zone.rawValue) \(root)"),
                .blob(JSONValue(records).serialized()),
            ])
        note([ShareNews(unshared: records)], of: zone)
    }
}

extension SharedZones {
    /// Returns the records that have stayed of shares whose roots were deleted since a time, oldest
    /// first.
    package func unsharedRecords(since time: Timestamp) throws(RecordError) -> [UnsharedRecords] {
        let values = try store.read { connection throws(RecordError) in
            try connection.all("SELECT value FROM meta WHERE key LIKE 'unshared %'") { $0.bytes(0) }
        }
        var found: [UnsharedRecords] = []
        for value in values {
            guard let records = UnsharedRecords(try JSONParser.parse(value)), records.at > time
            else { continue }
            found.append(records)
        }
        return found.sorted { $0.at < $1.at }
    }

    /// Returns the number of entries in the trash with changes that this user had not sent when a
    /// share of others ended.
    package func ownTrashCount() throws(RecordError) -> Int {
        try store.read { connection throws(RecordError) in
            try connection.first("SELECT COUNT(*) FROM trash WHERE is_own = 1") { $0.int64(0) }
        }.map(Int.init) ?? 0
    }
}

extension JSONValue {
    fileprivate init(_ records: UnsharedRecords) {
        let names = records.children.map { JSONValue.string(Text(utf8: $0.bytes)) }
        self = .object([
            JSONMember(key: "zone", value: JSONValue(records.zone.rawValue)),
            JSONMember(key: "root", value: .string(Text(utf8: records.root.bytes))),
            JSONMember(key: "at", value: JSONValue(records.at.seconds)),
            JSONMember(key: "children", value: .array(names)),
        ])
    }
}

extension UnsharedRecords {
    fileprivate init?(_ json: JSONValue) {
        guard let zone = json["zone"]?.int64, let root = json["root"]?.string,
            let at = json["at"]?.int64, let children = json["children"]?.array
        else { return nil }
        self.init(
            zone: ZoneID(zone), root: RecordName(bytes: root.utf8),
            children: children.compactMap { $0.string.map { RecordName(bytes: $0.utf8) } },
            at: Timestamp(seconds: at))
    }
}
