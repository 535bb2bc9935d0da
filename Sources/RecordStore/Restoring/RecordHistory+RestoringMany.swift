package import RecordModel
import RecordSQL

extension RecordHistory {
    /// Returns the plan that `Transaction.restore` would carry out now. Changes nothing.
    package func restorePlan(
        _ scope: RestoreScope, to point: RestorePoint, isExact: Bool = false
    ) throws(RecordError) -> RestorePlan {
        try store.read { connection throws(RecordError) in
            try RestorePlanning.plan(connection, scope, point, isExact: isExact)
        }
    }
}

extension Transaction {
    /// Brings back every record of the scope that was deleted or changed since the point.
    ///
    /// Records that were made since stay, and so do refused texts, which the files still show. The
    /// versions that are replaced stay in history. Errors: those of one record, with its name; then
    /// nothing is brought back.
    ///
    /// - Parameter isExact: removes records that were made since. They are in the trash afterwards.
    package func restore(
        _ scope: RestoreScope, to point: RestorePoint, isExact: Bool = false
    ) throws(RecordError) -> RestorePlan {
        let plan = try RestorePlanning.plan(connection, scope, point, isExact: isExact)
        // Removals first: they free names for what comes back.
        for step in plan.steps.filter(\.isRemoval) + plan.steps.filter({ !$0.isRemoval }) {
            do throws(RecordError) {
                try perform(step)
            } catch {
                throw RecordError(
                    error.code, "\(step.type)/\(step.stem): \(error.message)",
                    errno: error.systemErrno)
            }
        }
        return plan
    }

    private func perform(_ step: RestoreStep) throws(RecordError) {
        if let record = step.removal {
            try records.beginDelete(record)
            try records.finalizeDelete(record)
        }
        if let record = step.waiting { try records.cancelDelete(record) }
        if let trash = step.trash { _ = try records.restore(trash) }
        if let version = step.version { _ = try records.restoreVersion(version) }
    }
}
