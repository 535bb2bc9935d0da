package import RecordModel
import RecordSQL

/// The stamps of a record's values that came from elsewhere, or that have won against such values.
/// With them a value that is sent again, or made again after somebody's deletion, keeps its place
/// among the edits of all machines.
package struct HeardStamps {
    private(set) var stamps: [FieldName: FieldStamp]
    private let before: [FieldName: FieldStamp]

    init(_ stamps: [FieldName: FieldStamp] = [:]) {
        self.stamps = stamps
        before = stamps
    }

    var isChanged: Bool { stamps != before }

    /// The latest of the times. 0 when there is none.
    var latest: Int64 { stamps.values.map(\.time).max() ?? 0 }

    /// Replaces all stamps, because all values are now the server's.
    package mutating func replace(by stamps: [FieldName: FieldStamp]) { self.stamps = stamps }

    /// Notes the result of merging the fields of a record that the server has reported.
    ///
    /// - Parameters:
    ///   - stamps: the stamps of the server.
    ///   - edits: the values that won where both sides had changed a field.
    package mutating func note(
        _ merged: [RecordField], from remote: RecordDocument, _ stamps: [FieldName: FieldStamp],
        _ edits: LocalEdits, mergedAt: FieldStamp?
    ) {
        let values = Dictionary(merged.map { ($0.name, $0.value) }) { $1 }
        for name in Set(values.keys).union(remote.fields.map(\.name)).union(self.stamps.keys) {
            let told = stamps[name]
            if FieldMerge.isSame(values[name], remote[name]) {
                self.stamps[name] = told
            } else if edits.mergedLines.contains(name), let mergedAt {
                let losers = (self.stamps[name]?.losers ?? []) + (told?.losers ?? [])
                self.stamps[name] = mergedAt.over(losers)
            } else if let mine = edits.won[name] {
                let loser = told.map { LostEdit($0) } ?? remote[name].map { LostEdit($0) }
                self.stamps[name] = mine.over((told?.losers ?? []) + [loser].compactMap(\.self))
            }
        }
    }

    // MARK: In the store

    /// Reads one line for each stamp: the stamp's text, a space, and the name.
    fileprivate init(encoded: [UInt8]) {
        var stamps: [FieldName: FieldStamp] = [:]
        for line in encoded.split(separator: UInt8(ascii: "\n")) {
            guard let space = line.firstIndex(of: UInt8(ascii: " ")),
                let stamp = FieldStamp(text: String(decoding: line[..<space], as: UTF8.self))
            else { continue }
            stamps[FieldName(bytes: Array(line[(space + 1)...]))] = stamp
        }
        self.init(stamps)
    }

    fileprivate var encoded: [UInt8] {
        stamps.sorted { $0.key < $1.key }.flatMap { name, stamp in
            Array(stamp.text.utf8) + [UInt8(ascii: " ")] + name.bytes + [UInt8(ascii: "\n")]
        }
    }
}

extension RecordMerging {
    package func heardStamps(of name: RecordName, _ zone: ZoneID) throws(RecordError) -> HeardStamps
    {
        try transaction.connection.first(
            "SELECT stamps FROM heard_stamps WHERE zone_id = ? AND name = ?",
            [.integer(zone.rawValue), .name(name)]
        ) { HeardStamps(encoded: $0.bytes(0)) } ?? HeardStamps()
    }

    package func keep(
        _ heard: HeardStamps, of name: RecordName, _ zone: ZoneID
    ) throws(RecordError) {
        guard heard.isChanged else { return }
        if heard.stamps.isEmpty {
            return try transaction.connection.run(
                "DELETE FROM heard_stamps WHERE zone_id = ? AND name = ?",
                [.integer(zone.rawValue), .name(name)])
        }
        try transaction.connection.run(
            "INSERT OR REPLACE INTO heard_stamps (zone_id, name, stamps) VALUES (?, ?, ?)",
            [.integer(zone.rawValue), .name(name), .blob(heard.encoded)])
    }
}

extension LostEdit {
    /// Describes a value that has no stamp. Files are equal if their bytes are equal, whatever
    /// their names.
    init(_ value: FieldValue) {
        let bytes: [UInt8]
        if case .asset(let asset) = value, let hash = asset.sha256 {
            bytes = Array(hash.hex.utf8)
        } else {
            let field = RecordField(name: FieldName("value"), value: value)
            bytes = RecordDocument.print([field], parent: nil)
        }
        self.init(valueChecksum: TextChecksum.of(bytes))
    }
}
