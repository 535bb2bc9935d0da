/// What has to be true of a history's end, worked out apart from the product.
///
/// Each edit writes values that no other writes, so that a value says which edit it is of. An edit is
/// accounted for when its value is there at the end, when somebody who had it before him wrote over
/// it, removed the field or deleted the record, or when a conflict keeps it.
///
/// What is checked, and where:
///
/// 1. No edit is lost: `lost`, after each round and each restart (`SimulatedWorld.lookAtMachines`)
///    and at the end; nor is a record that nobody has deleted: `missing`. An edit that lost is among
///    the conflicts of the machine that made it: `unheard`. Nothing older stands for it: `outdated`.
/// 2. All machines, a new one and the server have the same, byte for byte, within 200 rounds:
///    `SimulatedWorld.finish` and `differencesOfServer`.
///    A record that was moved is in one place: `doubled`.
/// 3. What was deleted stays so: `returned`, on the machine where it was deleted after each of its
///    rounds, on all at the end.
/// 4. The server deletes only what somebody has deleted who had seen all of it, and no upload
///    forces anything: `ServerWatch`, after each request.
/// 5. A request that is repeated changes nothing, and a new tag has a new content: `ServerWatch`.
/// 6. 7. Permissions and what a revocation leaves: these histories have one account and no shares;
///    `SharingOracle` is of those that have.
/// 8. Nothing is in a file or on the server that nobody wrote: `lookAtMachines`, `ServerWatch`. What
///    a mount takes for written is for its own tests, `TornReadTests`.
/// 9. Batches are not atomic here: the engine asks for each change by itself. `AtomicTests` of the
///    server has those that are.
/// 10. A page of a feed tells what is new behind its token, each once and in order:
///     `ServerWatch`, of each page that a machine gets.
/// 11. References: histories have none. `ReferenceTests` of the server.
/// 12. Clocks that are ten years wrong change nothing: `SimulationCheck`, of 5 % of the seeds.
/// 13. A store opens after a crash, is whole and shows what it showed: `Replica.restartAfterCrash`;
///     at the end also with every text and file looked at.
/// 14. Two rounds after the last change are quiet: `SimulatedWorld.finish`.
/// 15. A round ends, and no page is larger than was asked for: `SimulatedWorld.see`, `ServerWatch`.
///     Memory and time of a request: `MemoryTests` and `MemoryHoldTests` of the server.
///
/// Of 2 % of the seeds it is also checked that they run the same again.
struct Oracle {
    private struct Edit {
        let step: Int
        let device: Int
        let key: Step.Key
        /// The values of the record that its writer had before him, and what those had.
        let known: Set<String>
    }

    private struct Deletion {
        let step: Int
        let device: Int
        let key: Step.Key
        let known: Set<String>
        /// What was seen of the record on the machine, and in the conflicts there.
        let seen: Set<String>
        /// Indicates whether an undo has brought the record back.
        var isUndone = false
    }

    private var edits: [String: Edit] = [:]
    private var replaced: Set<String> = []
    /// All that each machine has shown of a record to those who wrote it.
    private var seen: [Step.Key: [Int: Set<String>]] = [:]
    /// Values of fields, and not of lines, that somebody has written over or removed.
    private var overwritten: [String: Int] = [:]
    /// What stood in their places then.
    private var overwriters: [String: Set<String>] = [:]
    /// Those of them that nothing was written over.
    private var removed: Set<String> = []
    /// Values that lost in conflicts, each with those that stood.
    private var winners: [String: Set<String>] = [:]
    private var deletions: [Deletion] = []
    /// Machines that have sent a record, and heard nothing of it for a while.
    private var unanswered: [Step.Key: Set<Int>] = [:]
    private var forgetfulZones: Set<String> = []
    private var removedZones: Set<String> = []
    private(set) var isRestored = false
    /// Of the last restore of the server.
    private var restoreStep = 0
    private var changedByRestore: Set<Step.Key> = []
    private var hasExpired = false
    private var beyondBackup: Set<Step.Key> = []
    /// Machines whose side of a conflict stood: an edit of which no value tells.
    private var asserted: [Step.Key: Set<Int>] = [:]
    /// Records that something was done to of which their values do not tell.
    private var untraced: Set<Step.Key> = []
    /// Values that an undo has put back, by the machine on which it was.
    private var putBack: [Int: Set<String>] = [:]
    /// The faults of undos.
    private var wrongs: [String] = []
    /// From where records were moved, and to where.
    private var moves: [(from: Step.Key, to: Step.Key)] = []

    /// - Parameters:
    ///   - values: the new ones.
    ///   - over: what stood in their places.
    ///   - removing: what went with its field.
    ///   - visible: what the record had.
    mutating func edit(
        _ key: Step.Key, step: Int, device: Int, values: [String], over: [String],
        removing: [String] = [], visible: [String]
    ) {
        let known = closure(visible)
        seen[key, default: [:]][device, default: []].formUnion(known.union(values))
        for value in values {
            edits[value] = Edit(step: step, device: device, key: key, known: known)
        }
        let over = over + removing
        replaced.formUnion(over)
        for value in removing { removed.formUnion(earlier(value)) }
        for value in over where !isLine(value) {
            overwritten[value] = step
            overwriters[value, default: []].formUnion(values)
        }
        // Of an edit that leaves nothing, no value says that it was.
        if values.isEmpty { untraced.insert(key) }
    }

    mutating func delete(
        _ key: Step.Key, step: Int, device: Int, visible: [String], kept: Set<String>
    ) {
        deletions.append(
            Deletion(
                step: step, device: device, key: key, known: closure(visible),
                seen: kept.union(seen[key]?[device] ?? [])))
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
    ///
    /// - Parameters:
    ///   - records: those that were made after the backup, and may be gone since. When one of them is
    ///     deleted, the server cannot keep that for machines which did not hear of it in time: they make
    ///     it again.
    ///   - changed: those that are not as they were, of which several machines may make the same again.
    mutating func restoreServer(
        losing records: Set<Step.Key>, changing changed: Set<Step.Key>, step: Int
    ) {
        isRestored = true
        restoreStep = step
        beyondBackup.formUnion(records)
        changedByRestore.formUnion(changed)
    }

    mutating func removeZone(_ zone: String) { removedZones.insert(zone) }

    /// Whoever writes a file anew wants it to be there.
    mutating func rewrite(_ key: Step.Key) { untraced.insert(key) }

    mutating func rename(_ key: Step.Key, to new: Step.Key) {
        untraced.formUnion([key, new])
        moves.append((key, new))
    }

    /// A machine shows these values under a name that nobody has written them to.
    mutating func show(_ values: [String], as key: Step.Key, device: Int) {
        seen[key, default: [:]][device, default: []].formUnion(closure(values))
    }

    /// A conflict says that of two edits of a field one stood.
    mutating func noteLoss(of value: String, to winner: String) {
        winners[value, default: []].insert(winner)
    }

    mutating func assert(_ key: Step.Key, device: Int) {
        asserted[key, default: []].insert(device)
    }

    /// The change of a record by an undo.
    struct TakenBack {
        let key: Step.Key
        let step: Int
        let device: Int
        /// The values before.
        let was: [String]
        /// The values after.
        let values: [String]
        /// The values of all records after the undo: what has gone from one may be in another.
        let moved: Set<String>
        let kept: Set<String>
    }

    /// - Parameters:
    ///   - making: the undo has removed the record, which the step had made.
    ///   - removing: the undo has brought the record back, which the step had removed.
    mutating func takeBack(_ change: TakenBack, making: Bool = false, removing: Bool = false) {
        let (key, device) = (change.key, change.device)
        let gone = Set(change.was).subtracting(change.values)
        for value in gone.subtracting(change.moved).sorted() {
            guard let edit = edits[value], edit.device != device,
                !putBack[device, default: []].contains(value)
            else { continue }
            wrongs.append("An undo on device \(device) takes \(value) from \(key), of another one.")
        }
        let back = Set(change.values).subtracting(change.was)
        putBack[device, default: []].formUnion(back)
        if making {
            delete(
                key, step: change.step, device: device, visible: change.was, kept: change.kept)
        } else {
            edit(
                key, step: change.step, device: device, values: [], over: gone.sorted(),
                visible: change.was)
        }
        show(change.values, as: key, device: device)
        untraced.insert(key)
        // What comes back stands again.
        for value in back.reduce(into: Set<String>(), { $0.formUnion(earlier($1)) }) {
            overwritten[value] = nil
            overwriters[value] = nil
            self.removed.remove(value)
        }
        guard removing else { return }
        for index in deletions.indices
        where deletions[index].key == key && deletions[index].device == device {
            deletions[index].isUndone = true
        }
    }

    mutating func takeProblems() -> [String] {
        defer { wrongs = [] }
        return wrongs
    }

    private func isLine(_ value: String) -> Bool {
        value.hasPrefix("<")
            && (value.hasSuffix(".l>") || value.dropLast().last?.isNumber == true)
    }

    private func isHash(_ value: String) -> Bool { !value.hasPrefix("<") }

    private func closure(_ values: [String]) -> Set<String> {
        values.reduce(into: []) { known, value in
            known.insert(value)
            if let edit = edits[value] { known.formUnion(edit.known) }
        }
    }

    /// A value of a field, and those of that field that its writer knew of.
    private func earlier(_ value: String) -> Set<String> {
        closure([value]).filter {
            $0.split(separator: ".").last == value.split(separator: ".").last
        }
    }

    // MARK: At each step

    /// A feed begins anew, which tells nothing of what has gone.
    mutating func expireToken() { hasExpired = true }

    /// Whether an edit has written a value.
    func isKnown(_ value: String) -> Bool { edits[value] != nil }

    /// Whether somebody has written a record in a way that its values do not tell of.
    func isUntraced(_ key: Step.Key) -> Bool { untraced.contains(key) }

    /// Says whether a save may repeat what the server has: of what a restore has lost there, several machines may
    /// make the same again, or give up the same bytes.
    func mayBeRepeated(_ key: Step.Key) -> Bool {
        changedByRestore.contains(key)
            || isRestored && edits.contains { isHash($0.key) && $0.value.key == key }
    }

    /// Whether somebody on a machine has deleted a record and had seen these values of it. Whoever hears
    /// of a restore deletes again what others had deleted.
    func hasDeleted(_ key: Step.Key, _ values: Set<String>, device: Int) -> Bool {
        deletions.contains {
            // What one of several records of a name shows as, says only how its name begins.
            $0.key.short == key.short && ($0.device == device || isRestored)
                && (untraced.contains(key) || values.isSubset(of: $0.known.union($0.seen)))
        }
    }

    /// Edits that are nowhere: `there` is all that machines and conflicts have.
    ///
    /// - Parameter names: of records that cannot be sent.
    func lost(but there: Set<String>, except names: Set<String>) -> [String] {
        edits.filter { value, edit in
            !replaced.contains(value) && !there.contains(value) && !names.contains(edit.key.name)
        }
        .sorted { $0.value.step < $1.value.step }.map { value, edit in
            "The edit of step \(edit.step) is lost: \(edit.key) had \(value)."
        }
    }

    /// Deleted records that are there.
    ///
    /// - Parameter device: of whose deletions; nil for all.
    func returned(in tree: [Step.Key: [String]], to device: Int? = nil) -> [String] {
        let unanswered = unanswered.filter { forgetfulZones.contains($0.key.zone) }
        return deletions.filter { deletion in
            !deletion.isUndone && (device == nil || deletion.device == device)
                && tree[deletion.key] != nil
                && !untraced.contains(deletion.key)
                && unanswered[deletion.key, default: []].subtracting([deletion.device]).isEmpty
                && !(isRestored && removedZones.contains(deletion.key.zone))
                && !beyondBackup.contains(deletion.key)
                // Who has edits that the restore has lost, and has not heard of it, cannot know that they were deleted.
                && !(changedByRestore.contains(deletion.key) && deletion.step > restoreStep)
                && asserted[deletion.key, default: []].subtracting([deletion.device]).isEmpty
                // Of two of one name, each machine that knows one of them shows it under the short one.
                && !edits.contains { value, edit in
                    edit.key.short == deletion.key.short && !deletion.known.contains(value)
                }
        }.map {
            "\($0.key) is back, which step \($0.step) deleted, and nobody has edited it since."
        }
    }

    // MARK: At the end

    /// What is wrong with the end: `tree` is the same on all machines.
    ///
    /// - Parameters:
    ///   - kept: all values that conflicts have.
    ///   - names: of records that cannot be sent.
    func problems(
        _ tree: [Step.Key: [String]], kept keptBy: [Set<String>], except names: Set<String>
    ) -> [String] {
        let kept = keptBy.reduce(into: Set<String>()) { $0.formUnion($1) }
        let tree = tree.filter { !names.contains($0.key.name) }
        let unanswered = unanswered.filter { forgetfulZones.contains($0.key.zone) }
        var problems = lost(but: kept.union(tree.values.joined()), except: names)
        // A record that comes back for an edit's sake brings what it had.
        let deleted = Set(deletions.map(\.key)).union(untraced).union(unanswered.keys)
        // It may show under a longer name then, beside what has been made of its name since.
        for (key, values) in tree.sorted(by: { $0.key < $1.key })
        where !deleted.contains(key) && !deleted.contains(key.short) {
            for value in values {
                guard let step = overwritten[value] else { continue }
                // Of a restored server it is not known who knew of whom: a conflict has both, and an
                // edit wins against the removal of its field.
                if isRestored, kept.contains(value) || removed.contains(value) { continue }
                problems.append("\(key) has \(value) again, which step \(step) wrote over.")
            }
        }
        problems += outdated(in: tree, except: names) + doubled(in: tree)
        problems += unheard(but: Set(tree.values.joined()), kept: keptBy, except: names)
        return problems + returned(in: tree) + missing(from: tree, except: names)
    }

    /// Values of records that came back, over which somebody had written whom nobody who deleted them had
    /// seen. Whoever has seen what such an edit lost to, and not only what it was made over, has seen it.
    private func outdated(
        in tree: [Step.Key: [String]], except names: Set<String>
    ) -> [String] {
        guard !isRestored else { return [] }
        var problems: [String] = []
        for (key, values) in tree.sorted(by: { $0.key < $1.key })
        where !untraced.contains(key) && !unanswered.keys.contains(key) && !names.contains(key.name)
        {
            let deletions = deletions.filter { $0.key == key }
            for value in values {
                guard let edit = edits[value], edit.key == key, let step = overwritten[value],
                    let later = overwriters[value], !later.isEmpty
                else { continue }
                let standing = later.reduce(into: later) { all, value in
                    all.formUnion(
                        winners[value, default: []].subtracting(edits[value]?.known ?? []))
                }
                let isDeleted = deletions.contains {
                    !standing.isDisjoint(with: $0.known.union($0.seen))
                }
                if isDeleted || deletions.isEmpty { continue }
                problems.append(
                    "\(key) is back with \(value), which step \(step) wrote over, and nobody has "
                        + "deleted that.")
            }
        }
        return problems
    }

    /// Records of which a part is where they were moved from, and another where they were moved to: an edit
    /// that crosses a move follows it. Only of places that nothing else has happened to but edits, and whose
    /// machines know what they have sent: who makes a record, hears no answer, and asks when it is gone, has
    /// no place in the feed from which it could hear where to; nor has one whose token has expired.
    private func doubled(in tree: [Step.Key: [String]]) -> [String] {
        guard !isRestored, !hasExpired else { return [] }
        return moves.compactMap { from, to in
            let (left, arrived) = (Set(tree[from] ?? []), Set(tree[to] ?? []))
            let others = moves.filter { ![$0.from, $0.to].allSatisfy { $0 != from && $0 != to } }
            let ends = deletions.filter { $0.key == from || $0.key == to }
            // Who makes a record of that name without having seen one may mean either.
            let makers = Set(
                edits.values.filter { $0.key == from && $0.known.isEmpty }.map(\.step))
            guard makers.count <= 1 else { return nil }
            guard unanswered[from] == nil, !left.isDisjoint(with: arrived), others.count == 1,
                ends.count == 1,
                removedZones.isDisjoint(with: [from.zone, to.zone])
            else { return nil }
            return
                "\(from) was moved to \(to), and both have \(left.intersection(arrived).sorted())."
        }
    }

    /// Edits that lost, and of which the machine that made them does not say so.
    ///
    /// - Parameters:
    ///   - there: all values of the tree.
    ///   - kept: those that the conflicts of each machine have.
    private func unheard(
        but there: Set<String>, kept: [Set<String>], except names: Set<String>
    ) -> [String] {
        guard !isRestored else { return [] }
        let somewhere = kept.reduce(into: Set<String>()) { $0.formUnion($1) }
        let deleted = Set(deletions.map(\.key)).union(untraced)
        return edits.filter { value, edit in
            // What stood may be gone before the one whose edit lost hears of it: then the conflict where
            // they were merged tells.
            let isGone =
                deleted.contains(edit.key)
                || removed.contains { isHash($0) == isHash(value) && edits[$0]?.key == edit.key }
            if isGone, somewhere.contains(value) { return false }
            return !replaced.contains(value) && !there.contains(value)
                && !names.contains(edit.key.name)
                && kept.indices.contains(edit.device) && !kept[edit.device].contains(value)
        }
        .sorted { $0.value.step < $1.value.step }.map { value, edit in
            "The edit of step \(edit.step) lost, and device \(edit.device), which made it, does not "
                + "say so: \(edit.key) had \(value)."
        }
    }

    /// Records that somebody has made, that nobody has deleted, and that are not there: what was
    /// written is not gone where a conflict has it, but the record is.
    private func missing(
        from tree: [Step.Key: [String]], except names: Set<String>
    ) -> [String] {
        let deleted = deletions.filter { !$0.isUndone }.map(\.key)
        return Set(edits.values.map(\.key)).subtracting(deleted).subtracting(tree.keys)
            .filter { !names.contains($0.name) && !removedZones.contains($0.zone) }
            .sorted().map { "\($0) is gone, and nobody has deleted it." }
    }
}
