package import RecordModel
import RecordSQL

extension RecordHistory {
    /// Returns the plan that `Transaction.restore(_:to:)` would carry out now. Changes nothing.
    package func restorePlan(
        _ scope: RestoreScope, to point: RestorePoint
    ) throws(RecordError) -> RestorePlan {
        try store.read { connection throws(RecordError) in
            try RestorePlanning.plan(connection, scope, point)
        }
    }
}

extension Transaction {
    /// Brings back every record of the scope that was deleted or changed since the point.
    ///
    /// Records that were made since stay, and so do refused texts, which the files still show. The
    /// versions that are replaced stay in history. Errors: those of one record, with its name; then
    /// nothing is brought back.
    package func restore(
        _ scope: RestoreScope, to point: RestorePoint
    ) throws(RecordError) -> RestorePlan {
        let plan = try RestorePlanning.plan(connection, scope, point)
        for step in plan.steps {
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
        if let record = step.waiting { try records.cancelDelete(record) }
        if let trash = step.trash { _ = try records.restore(trash) }
        if let version = step.version { _ = try records.restoreVersion(version) }
    }
}
