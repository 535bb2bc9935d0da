import RecordModel
import RecordStore

extension ControlExecutor {
    func wantIndexes(_ path: RecordPath, _ expression: [UInt8]) throws(RecordError) -> ControlReply
    {
        let type = try store.type(at: path)
        let query = try QueryExpression(
            parsing: expression, schema: try store.schema(of: type.name))
        try store.index.wantIndexes(type.id, query)
        return ControlReply(.object([]))
    }

    func search(_ path: RecordPath, _ words: [UInt8]) throws(RecordError) -> ControlReply {
        let zone = try store.zone(at: path)
        let found = try store.index.search(zone.id, words: String(decoding: words, as: UTF8.self))
        var lines: [UInt8] = []
        for entry in found {
            guard let type = try store.type(entry.type), !store.model.isHidden(type.name),
                path.type == nil || path.type == type.name
            else { continue }
            let record = RecordPath(
                database: path.database, owner: path.owner, zone: path.zone, type: type.name,
                item: .record(entry.stem))
            lines += record.bytes + [UInt8(ascii: "\n")]
        }
        return ControlReply(
            .members([
                "found": .integer(found.count),
                "unindexed": .integer(Int(try store.index.searchBacklog())),
            ]), body: lines)
    }
}
