package import RecordModel
import RecordSQL

/// A record as the server last reported it.
package struct AcknowledgedRecord: Sendable {
    package let changeTag: String
    package let document: RecordDocument
    /// The texts that its file may have on the server.
    package let texts: [[UInt8]]
}

extension RecordStore {
    /// Returns a record as the server last reported it. Returns nil for a record that the server
    /// has not reported, or whose text is damaged here.
    package func acknowledged(
        _ name: RecordName, in zone: ZoneID
    ) throws(RecordError) -> AcknowledgedRecord? {
        try read { connection throws(RecordError) in
            guard let record = try connection.records.stored(named: name, zone),
                let base = try connection.sync.base(of: record.id), let text = base.text,
                let type = try connection.first(
                    "SELECT name FROM record_type WHERE id = ?",
                    [.integer(record.entry.type.rawValue)],
                    { RecordTypeName(bytes: $0.bytes(0)) })
            else { return nil }
            let document = try RecordDocument(
                parsing: text, schema: try SchemaRows.read(connection, type), limits: .received)
            let here = try connection.records.wholeSavedText(of: record.id)
            return AcknowledgedRecord(
                changeTag: base.changeTag, document: document,
                texts: [here, text].compactMap(\.self))
        }
    }

    /// Returns the texts that are known here of a record of the server: the present text, and the
    /// text that the server last reported.
    package func knownDocuments(
        of name: RecordName, in zone: ZoneID
    ) throws(RecordError) -> [RecordDocument] {
        try read { connection throws(RecordError) in
            guard let record = try connection.records.stored(named: name, zone) else { return [] }
            let texts = [
                try connection.records.wholeSavedText(of: record.id),
                try connection.sync.base(of: record.id)?.text,
            ].compactMap(\.self)
            guard let first = texts.first,
                let type = try connection.first(
                    "SELECT name FROM record_type WHERE id = ?",
                    [.integer(record.entry.type.rawValue)],
                    { RecordTypeName(bytes: $0.bytes(0)) })
            else { return [] }
            let schema = try SchemaRows.read(connection, type)
            var documents: [RecordDocument] = []
            for text in texts where documents.isEmpty || text != first {
                documents.append(
                    try RecordDocument(parsing: text, schema: schema, limits: .received))
            }
            return documents
        }
    }
}
