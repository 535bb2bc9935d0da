package import RecordModel
package import RecordStore

extension ControlExecutor {
    func restore(_ path: RecordPath, version: Int64?) throws(RecordError) -> ControlReply {
        if let version {
            guard try store.versions(at: path).contains(where: { $0.token == version }) else {
                throw RecordError(
                    .notFound, "it has no version \(version). recordfs history lists them.")
            }
            let entry = try store.write(author: .commandLine, by: author) {
                (transaction) throws(RecordError) -> RecordEntry in
                try transaction.records.restoreVersion(version)
            }
            return ControlReply(
                .members(["version": .integer(version), "keptDraft": .bool(entry.hasDraft)]))
        }
        let zone = try store.keptZone(at: path)
        guard case .record(let stem) = path.item, let type = path.type else {
            throw RecordError(
                .invalidArgument, "is not a record. Write DATABASE/ZONE/TYPE/NAME.")
        }
        if let info = try store.type(zone.id, type), let entry = try store.record(info.id, stem),
            entry.state == .waitingDelete
        {
            try store.write(author: .commandLine, by: author) { (transaction) throws(RecordError) in
                try transaction.records.cancelDelete(entry.id)
            }
            return ControlReply(.members(["deleted": .null]))
        }
        // The type or zone may be deleted: restoring creates it again.
        guard let latest = try store.past.lastTrashed(in: zone.id, type: type, stem) else {
            throw RecordError(
                .notFound,
                "the trash has no such record. recordfs restore --list \(path.directory) shows "
                    + "what it has.")
        }
        try store.write(author: .commandLine, by: author) { (transaction) throws(RecordError) in
            _ = try transaction.records.restore(latest.id)
        }
        let time = ISO8601.print(milliseconds: latest.deleted.milliseconds)
        return ControlReply(.members(["deleted": .text(time)]))
    }

    func restoreAll(
        _ path: RecordPath, _ point: RestorePoint, isExact: Bool
    ) throws(RecordError) -> ControlReply {
        let scope = try path.restoreScope
        try store.checkWasThere(path)
        let plan = try store.write(author: .commandLine, by: author) {
            (transaction) throws(RecordError) in
            try transaction.restore(scope, to: point, isExact: isExact)
        }
        return ControlReply(plan.json)
    }

    func discardDraft(_ path: RecordPath) throws(RecordError) -> ControlReply {
        let entry = try store.record(at: path)
        guard entry.hasDraft else { throw RecordError(.notFound, "there is no draft of it.") }
        let rest = try store.write(author: .commandLine, by: author, isFreeing: true) {
            (transaction) throws(RecordError) in
            try transaction.records.discardDraft(entry.id)
        }
        return ControlReply(.members(["recordRemains": .bool(rest != nil)]))
    }

    func applySchema(_ text: [UInt8]) throws(RecordError) -> ControlReply {
        let types = try SchemaText.parse(text)
        try store.write(author: .commandLine, by: author) { (transaction) throws(RecordError) in
            for (name, schema) in types { try transaction.setSchema(schema, of: name) }
        }
        return ControlReply(.members(["types": .array(types.map { .name($0.0) })]))
    }
}

extension RecordPath {
    /// The scope of a restore.
    ///
    /// Errors: `invalidArgument` for a large field, which is restored with its record.
    package var restoreScope: RestoreScope {
        get throws(RecordError) {
            if case .asset = item {
                throw RecordError(
                    .invalidArgument, "a large field comes back with its record. Name the record.")
            }
            let isEveryOwner = zone == nil && owner == .me
            return RestoreScope(
                database: database, owner: isEveryOwner ? nil : owner, zone: zone, type: type,
                stem: stem)
        }
    }
}

extension RestorePlan {
    /// The counts, for a reply and a report.
    package var json: JSONValue {
        .members([
            "broughtBack": .integer(steps.count { $0.wasDeleted }),
            "changedBack": .integer(steps.count { !$0.wasDeleted && !$0.isRemoval }),
            "removed": .integer(steps.count { $0.isRemoval }),
            "madeSince": .integer(madeSince), "inTheWay": .integer(inTheWay),
            "draftsKept": .integer(steps.count { $0.keepsDraft }),
        ])
    }
}
