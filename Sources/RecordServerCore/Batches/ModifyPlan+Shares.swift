import RecordModel
import RecordWire

/// Operations on records of type `cloudkit.share` (Protocol, "Sharing").
extension ModifyPlan {
    mutating func evaluateShare(
        _ operation: RecordOperation, _ name: RecordName, _ index: Int
    ) throws(ServerError) {
        let visible = try visibleRecord(name)
        // Check this before anything that would reveal which names are taken.
        if operation.type.mayCreate, visible == nil {
            try visibility.decide(.share).require()
        }
        switch operation.type {
        case .create:
            if let visible { throw alreadyExists(visible, index) }
            try createShare(operation, name, index)
        case .update, .replace:
            guard let visible else { throw notFound(index) }
            try requireTag(operation.record, visible, index)
            try updateShare(visible, operation, index)
        case .forceUpdate, .forceReplace:
            if let visible {
                try updateShare(visible, operation, index)
            } else {
                try createShare(operation, name, index)
            }
        case .delete, .forceDelete:
            try deleteShare(visible, operation, index)
        }
    }

    private mutating func createShare(
        _ operation: RecordOperation, _ name: RecordName, _ index: Int
    ) throws(ServerError) {
        if name != .zoneShare { try checkName(name, .share, index) }
        var dictionary = operation.record
        dictionary.name = name
        var root: StoredRecord?
        if let rootName = dictionary.share?.root {
            root = try savedRoot(rootName, tag: dictionary.share?.rootChangeTag, index)
        }
        let row: ShareRow
        do throws(ServerError) {
            row = try ShareRules.create(
                dictionary, root: root, try situation(), ids: &ids)
        } catch {
            throw error.isFault ? error : error.under("operations[\(index)]")
        }
        var record = StoredRecord(
            name: name, type: .share, tag: 0, position: 0, fields: Array("{}".utf8),
            created: stamp, modified: stamp)
        record.shortGUID = row.shortGUID
        var plan = PlannedRecord(operation: index, isOwn: true, before: nil, record: record)
        try setFields(&plan, operation, index)
        steps[index].outcome = .saved(plan)
        let isRootSaved = steps.contains { $0.name == row.root }
        steps[index].share = ShareStep(old: nil, new: row, root: isRootSaved ? nil : root)
    }

    /// Returns the root of a new share. A new share is saved with its root in one batch, so that
    /// nobody sees one without the other. Either an operation saves the root, or `forRecord` proves
    /// by its tag that the caller knows the current root, and the share saves the root as well. A
    /// participant first hears of the missing right.
    private mutating func savedRoot(
        _ name: RecordName, tag: Text?, _ index: Int
    ) throws(ServerError) -> StoredRecord? {
        guard !isParticipant else { return nil }
        var root: StoredRecord
        if let step = steps.first(where: { $0.name == name }) {
            guard case .saved(let plan) = step.outcome else { throw rootNotSaved(index) }
            root = plan.record
        } else {
            guard tag != nil else { throw rootNotSaved(index) }
            guard let stored = try overlay.stored(name) else { return nil }
            root = stored
        }
        // The batch may end one share of the root and begin another.
        if let share = root.share, deletedNames.contains(share) { root.share = nil }
        return root
    }

    private func rootNotSaved(_ index: Int) -> ServerError {
        ServerError(
            .badRequest,
            "operations[\(index)].record.forRecord: a new share is saved together with its root; "
                + "add recordChangeTag, or an operation that saves the root to the request.")
    }

    /// Fails a new share whose root cannot be saved.
    mutating func checkRootsOfNewShares() throws(ServerError) {
        for (index, step) in steps.enumerated() {
            guard let share = step.share, share.old == nil, let root = share.new.root else {
                continue
            }
            let plan = overlay.planned[root]
            guard let plan, plan.isOwn || share.root != nil, !plan.record.isDeleted else {
                fail(index, rootNotSaved(index))
                note(try groundsOfPlace(of: root), of: index)
                continue
            }
        }
    }

    /// The records that operations of the batch delete.
    private var deletedNames: Set<RecordName> {
        Set(
            steps.compactMap { step in
                guard step.error == nil, let type = step.request?.type,
                    type == .delete || type == .forceDelete
                else { return nil }
                return step.name
            })
    }

    private mutating func updateShare(
        _ stored: StoredRecord, _ operation: RecordOperation, _ index: Int
    ) throws(ServerError) {
        if let type = operation.record.type, type != .share {
            throw ServerError(
                .badRequest, "operations[\(index)].record.recordType: the record is a share.")
        }
        guard stored.type == .share, let existing = try overlay.share(zone, stored.name) else {
            throw ServerError(
                .badRequest, "operations[\(index)].record.recordType: the record is no share.")
        }
        var plan = PlannedRecord(operation: index, isOwn: true, before: stored, record: stored)
        plan.record.modified = stamp
        try setFields(&plan, operation, index)
        let row: ShareRow
        do throws(ServerError) {
            let situation = try situation()
            row = try ShareRules.update(existing, with: operation.record, situation, ids: &ids)
            // A participant who leaves may send the title back unchanged.
            if plan.record.fields != stored.fields {
                try ShareRules.requireFieldRights(existing, situation)
            }
        } catch {
            throw error.isFault ? error : error.under("operations[\(index)]")
        }
        steps[index].outcome = .saved(plan)
        steps[index].share = ShareStep(old: existing, new: row)
    }

    /// Deletes a share record. For the owner that stops sharing, and the records stay. For a
    /// participant it leaves the share.
    private mutating func deleteShare(
        _ stored: StoredRecord?, _ operation: RecordOperation, _ index: Int
    ) throws(ServerError) {
        let hasTag = operation.record.changeTag != nil
        if operation.type == .delete, !hasTag, settings.isStrict { throw missingTag(index) }
        guard let stored else {
            guard operation.type == .delete, hasTag else { return }
            throw notFound(index)
        }
        if operation.type == .delete, hasTag { try requireTag(operation.record, stored, index) }
        steps[index].outcome =
            isParticipant ? .left(share: stored.name) : .deleted(stored)
    }

    private mutating func situation() throws(ServerError) -> ShareRules.Situation {
        var situation = ShareRules.Situation(
            access: access, context: context, settings: settings, reader: transaction)
        let deleted = deletedNames
        for step in steps {
            guard step.error == nil, let name = step.name else { continue }
            if let share = step.share {
                situation.pending[name] = .some(share.new)
            } else if deleted.contains(name), try overlay.share(zone, name) != nil {
                situation.pending[name] = .some(nil)
            }
        }
        return situation
    }
}
