import RecordModel
import RecordStore

extension ControlExecutor {
    /// The number of records in one transaction of a recursive removal.
    private static let batchRecords = 200

    func remove(_ path: RecordPath, recursive: Bool) throws(RecordError) -> ControlReply {
        switch path.item {
        case .record:
            let entry = try store.record(at: path)
            try delete([entry])
            return ControlReply(.members(["removed": .integer(1)]))
        case .asset:
            let asset = try store.asset(at: path)
            try store.write(author: .commandLine, by: author, isFreeing: true) {
                (transaction) throws(RecordError) in
                try transaction.assets.removeAsset(asset.record, asset.field, asset.index)
            }
            return ControlReply(.members(["removed": .integer(1)]))
        case nil:
            return try removeDirectory(path, recursive: recursive)
        }
    }

    private func removeDirectory(
        _ path: RecordPath, recursive: Bool
    ) throws(RecordError) -> ControlReply {
        let zone = try store.zone(at: path)
        var removed = 0
        if path.type != nil {
            removed += try removeType(try store.type(at: path), recursive: recursive)
        } else {
            if recursive {
                for type in try store.types(in: zone.id) {
                    removed += try removeType(type, recursive: true)
                }
            }
            try store.write(author: .commandLine, by: author, isFreeing: true) {
                (transaction) throws(RecordError) in
                try transaction.removeZone(zone.id)
            }
        }
        return ControlReply(.members(["removed": .integer(removed)]))
    }

    private func removeType(_ type: TypeInfo, recursive: Bool) throws(RecordError) -> Int {
        var removed = 0
        while recursive {
            let entries = try store.records(
                in: type.id, after: RecordID(0), limit: Self.batchRecords)
            if entries.isEmpty { break }
            try delete(entries, isRecursive: true)
            removed += entries.count
        }
        try store.write(author: .commandLine, by: author, isFreeing: true) {
            (transaction) throws(RecordError) in
            try transaction.removeType(type.id)
        }
        return removed
    }

    /// Deletes records at once, without the grace period: a command does not create again what it
    /// deletes.
    private func delete(
        _ entries: [RecordEntry], isRecursive: Bool = false
    ) throws(RecordError) {
        try store.write(author: .commandLine, by: author, isFreeing: true) {
            (transaction) throws(RecordError) in
            for entry in entries {
                try transaction.records.beginDelete(entry.id)
                if entry.state == .saved { try transaction.records.finalizeDelete(entry.id) }
                if isRecursive, entry.state == .draftOnly, entry.hasAssets {
                    // Otherwise the files would continue to wait for a record with that name.
                    for asset in try transaction.records.assets(of: entry.id) {
                        try transaction.assets.removeAsset(entry.id, asset.field, asset.index)
                    }
                }
            }
        }
    }
}
