import RecordModel
import RecordWire

/// Parents and references with consequences, at the end of the batch (CloudKit Web Services
/// Reference, Types and Dictionaries).
extension ModifyPlan {
    /// The longest chain of parents.
    private static let maximumDepth = ServerLimits.parentDepth

    mutating func checkSaves() throws(ServerError) {
        var sources: [RecordName: Int] = [:]
        for index in steps.indices {
            guard case .saved = steps[index].outcome, let name = steps[index].name,
                let plan = overlay.planned[name]
            else { continue }
            try catching(index) { this throws(ServerError) in
                try this.checkParent(plan, index)
                try this.checkReferences(plan, index, &sources)
            }
            guard steps[index].error != nil else { continue }
            if let parent = plan.record.parent { note(try groundsOfPlace(of: parent), of: index) }
            note(groundsOfReferences(of: plan), of: index)
            overlay.planned[name] = nil
        }
    }

    /// Checks that the parent exists and that the chain of parents ends.
    private mutating func checkParent(_ plan: PlannedRecord, _ index: Int) throws(ServerError) {
        guard let parent = plan.record.parent, parent != plan.before?.parent else { return }
        let path = "operations[\(index)].record.parent"
        guard let target = try target(parent), target.type != .share else {
            throw ServerError(
                .validatingReferenceError,
                "\(path): there is no such record in the zone or in the request.")
        }
        var seen: Set<RecordName> = []
        var ancestor = target
        while seen.insert(ancestor.name).inserted {
            guard ancestor.name != plan.record.name else {
                throw ServerError(
                    .validatingReferenceError, "\(path): a record cannot be its own ancestor.")
            }
            guard seen.count < Self.maximumDepth else {
                throw ServerError(
                    .limitExceeded,
                    "\(path): at most \(Self.maximumDepth) records may be above one another.")
            }
            // Records that existed before a new record cannot be below it, except records that
            // still name a deleted record of its name as their parent.
            if plan.before == nil, overlay.planned[ancestor.name] == nil,
                try !hasStoredChildren(plan.record.name)
            {
                return
            }
            guard let next = ancestor.parent, let above = try overlay.current(next) else { return }
            ancestor = above
        }
    }

    /// Returns a record after the batch, as far as the caller may know of it.
    private mutating func target(_ name: RecordName) throws(ServerError) -> StoredRecord? {
        guard let record = try overlay.current(name) else { return nil }
        if let plan = overlay.planned[name], plan.isOwn { return record }
        return isVisible(record) ? record : nil
    }

    private mutating func checkReferences(
        _ plan: PlannedRecord, _ index: Int, _ sources: inout [RecordName: Int]
    ) throws(ServerError) {
        guard let references = plan.content?.references, !references.isEmpty else { return }
        let before: Set<StoredReference> =
            if let stored = plan.before {
                Set(try RecordContent(stored: stored, zone: zone).references)
            } else { [] }
        for reference in Set(references) {
            let isNew = !before.contains(reference)
            switch reference.action {
            case .none: break
            case .validate:
                guard isNew, try target(reference.target) == nil else { continue }
                throw ServerError(
                    .validatingReferenceError,
                    "operations[\(index)].record.fields: a VALIDATE reference leads to "
                        + "\(reference.target), which is not there.")
            case .deleteSelf:
                if let target = overlay.planned[reference.target], target.record.isDeleted {
                    throw ServerError(
                        .validatingReferenceError,
                        "operations[\(index)].record.fields: a DELETE_SELF reference leads to "
                            + "\(reference.target), which this request deletes.")
                }
                if isNew { try countSource(of: reference.target, index, &sources) }
            }
        }
    }

    /// Counts one more source of `target`: deleting one record may delete at most 750 others
    /// (CloudKit Web Services Reference, Data Size Limits).
    private mutating func countSource(
        of target: RecordName, _ index: Int, _ sources: inout [RecordName: Int]
    ) throws(ServerError) {
        let limit = settings.deleteSelfSources
        if sources[target] == nil {
            let stored = try overlay.sources(of: target, action: .deleteSelf, limit: limit + 1)
            sources[target] = stored.reduce(0) { count, source in
                count + (stillRefers(source, to: target, .deleteSelf) ? 1 : 0)
            }
        }
        let count = (sources[target] ?? 0) + 1
        guard count <= limit else {
            throw ServerError(
                .limitExceeded,
                "operations[\(index)].record.fields: at most \(limit) records may refer to one "
                    + "with DELETE_SELF.")
        }
        sources[target] = count
    }

    /// Returns whether a stored source of `target` still refers to it after the batch.
    func stillRefers(
        _ source: RecordName, to target: RecordName, _ action: Reference.Action
    ) -> Bool {
        guard let plan = overlay.planned[source] else { return true }
        if plan.record.isDeleted { return false }
        guard let content = plan.content else { return true }
        return content.references.contains(StoredReference(target: target, action: action))
    }
}
