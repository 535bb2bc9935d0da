/// What has to be true of a history's end, worked out apart from the product.
///
/// Each edit writes values that no other writes, so that a value says which edit it is of. An edit is
/// accounted for when its value is there at the end, when somebody who had it before him wrote over
/// it, removed the field or deleted the record, or when a conflict keeps it.
struct Oracle {
    private struct Edit {
        let step: Int
        let key: Step.Key
        /// The values of the record that its writer had before him, and what those had.
        let known: Set<String>
    }

    private struct Deletion {
        let step: Int
        let device: Int
        let key: Step.Key
        let known: Set<String>
    }

    private var edits: [String: Edit] = [:]
    private var replaced: Set<String> = []
    /// Values of fields, and not of lines, that somebody has written over or removed.
    private var overwritten: [String: Int] = [:]
    private var deletions: [Deletion] = []
    /// Machines that have sent a record, and heard nothing of it for a while.
    private var unanswered: [Step.Key: Set<Int>] = [:]
    private var forgetfulZones: Set<String> = []
    private var removedZones: Set<String> = []
    private var isRestored = false
    /// Records that something was done to of which their values do not tell.
    private var untraced: Set<Step.Key> = []

    /// - Parameters:
    ///   - values: the new ones.
    ///   - over: what stood in their places, and what was removed.
    ///   - visible: what the record had.
    mutating func edit(
        _ key: Step.Key, step: Int, values: [String], over: [String], visible: [String]
    ) {
        let known = closure(visible)
        for value in values { edits[value] = Edit(step: step, key: key, known: known) }
        replaced.formUnion(over)
        for value in over where !isLine(value) { overwritten[value] = step }
        // Of an edit that leaves nothing, no value says that it was.
        if values.isEmpty { untraced.insert(key) }
    }

    mutating func delete(_ key: Step.Key, step: Int, device: Int, visible: [String]) {
        deletions.append(
            Deletion(step: step, device: device, key: key, known: closure(visible)))
        replaced.formUnion(visible)
    }

    /// A machine does not know whether what it has sent of a record arrived. The server says so when
    /// it asks, but not in a zone that is gone since, nor after a restore: then the record is made again.
    mutating func leaveUnanswered(_ key: Step.Key, device: Int) {
        unanswered[key, default: []].insert(device)
    }

    mutating func forgetAnswers(of zone: String) { forgetfulZones.insert(zone) }

    /// Whoever hears of a restore after somebody has removed a zone on the restored server takes it for
    /// lost, and makes it again with all that he knows of it.
    mutating func restoreServer() { isRestored = true }
    mutating func removeZone(_ zone: String) { removedZones.insert(zone) }

    /// Whoever writes a file anew wants it to be there.
    mutating func rewrite(_ key: Step.Key) { untraced.insert(key) }

    mutating func rename(_ key: Step.Key, to new: Step.Key) { untraced.formUnion([key, new]) }

    private func isLine(_ value: String) -> Bool {
        value.hasPrefix("<")
            && (value.hasSuffix(".l>") || value.dropLast().last?.isNumber == true)
    }

    private func closure(_ values: [String]) -> Set<String> {
        values.reduce(into: []) { known, value in
            known.insert(value)
            if let edit = edits[value] { known.formUnion(edit.known) }
        }
    }

    /// What is wrong with the end: `tree` is the same on all machines.
    ///
    /// - Parameters:
    ///   - kept: all values that conflicts have.
    ///   - names: of records that cannot be sent.
    func problems(
        _ tree: [Step.Key: [String]], kept: Set<String>, except names: Set<String>
    ) -> [String] {
        let tree = tree.filter { !names.contains($0.key.name) }
        let unanswered = unanswered.filter { forgetfulZones.contains($0.key.zone) }
        let there = Set(tree.values.joined())
        var problems: [String] = []
        for (value, edit) in edits.sorted(by: { $0.value.step < $1.value.step })
        where !there.contains(value) && !replaced.contains(value) && !kept.contains(value)
            && !names.contains(edit.key.name)
        {
            problems.append("The edit of step \(edit.step) is lost: \(edit.key) had \(value).")
        }
        // A record that comes back for an edit's sake brings what it had.
        let deleted = Set(deletions.map(\.key)).union(untraced).union(unanswered.keys)
        for (key, values) in tree.sorted(by: { $0.key < $1.key }) where !deleted.contains(key) {
            for value in values {
                guard let step = overwritten[value] else { continue }
                problems.append("\(key) has \(value) again, which step \(step) wrote over.")
            }
        }
        for deletion in deletions
        where tree[deletion.key] != nil && !untraced.contains(deletion.key)
            && unanswered[deletion.key, default: []].subtracting([deletion.device]).isEmpty
            && !(isRestored && removedZones.contains(deletion.key.zone))
        {
            let others = edits.contains { value, edit in
                edit.key == deletion.key && !deletion.known.contains(value)
            }
            if !others {
                problems.append(
                    "\(deletion.key) is back, which step \(deletion.step) deleted, and nobody has "
                        + "edited it since.")
            }
        }
        return problems
    }
}
