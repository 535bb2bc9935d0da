import RecordModel
import RecordStore

extension ControlExecutor {
    func restore(_ path: RecordPath, version: Int64?) throws(RecordError) -> ControlReply {
        if let version {
            try store.write(author: .restore) { (transaction) throws(RecordError) in
                _ = try transaction.restoreVersion(version)
            }
            return ControlReply(.members(["version": .integer(version)]))
        }
        let zone = try store.keptZone(at: path)
        guard case .record(let stem) = path.item, let type = path.type else {
            throw RecordError(
                .invalidArgument, "is not a record. Write DATABASE/ZONE/TYPE/NAME.")
        }
        if let info = try store.type(zone.id, type), let entry = try store.record(info.id, stem),
            entry.state == .waitingDelete
        {
            try store.write(author: .restore) { (transaction) throws(RecordError) in
                try transaction.cancelDelete(entry.id)
            }
            return ControlReply(.members(["deleted": .null]))
        }
        // Also of a type or zone that is gone: restoring makes it again.
        guard let latest = try store.lastTrashed(in: zone.id, type: type, stem) else {
            throw RecordError(
                .notFound, "the trash has no such record. recordfs restore --list shows it.")
        }
        try store.write(author: .restore) { (transaction) throws(RecordError) in
            _ = try transaction.restore(latest.id)
        }
        let time = ISO8601.print(milliseconds: latest.deleted.nanoseconds / 1_000_000)
        return ControlReply(.members(["deleted": .text(time)]))
    }

    func discardDraft(_ path: RecordPath) throws(RecordError) -> ControlReply {
        let entry = try store.record(at: path)
        guard entry.hasDraft else { throw RecordError(.notFound, "there is no draft of it.") }
        let rest = try store.write(author: .commandLine) { (transaction) throws(RecordError) in
            try transaction.discardDraft(entry.id)
        }
        return ControlReply(.members(["recordRemains": .bool(rest != nil)]))
    }

    func applySchema(_ text: [UInt8]) throws(RecordError) -> ControlReply {
        let types = try SchemaText.parse(text)
        try store.write(author: .commandLine) { (transaction) throws(RecordError) in
            for (name, schema) in types { try transaction.setSchema(schema, of: name) }
        }
        return ControlReply(.members(["types": .array(types.map { .name($0.0) })]))
    }
}
