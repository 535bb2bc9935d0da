import RecordModel
import RecordWire

/// The operations that were refused because of another operation. When that other operation is
/// refused itself, they are evaluated again.
extension ModifyPlan {
    /// The other operations on which a refusal rests.
    struct Grounds {
        /// The operations of which at least one must be done for the refusal to hold.
        var presence: Set<Int> = []
        /// The operations of which at least one must not be done for the refusal to hold.
        var absence: Set<Int> = []
    }

    /// An operation as it was before it was refused.
    struct Refusal {
        let outcome: Step.Outcome
        let share: ShareStep?
        var grounds = Grounds()
    }

    var refused: Set<Int> { Set(steps.indices.filter { steps[$0].error != nil }) }

    /// Takes back refusals that rest on operations which were refused since `before`, if these
    /// refusals do not rest on each other. It takes back at most as many refusals as there are
    /// operations, so that the passes end.
    mutating func reconsider(since before: Set<Int>) {
        let news = refused.subtracting(before)
        let final = news.filter { grounds(of: $0).presence.isDisjoint(with: news) }
        var back = refused.filter { !grounds(of: $0).presence.isDisjoint(with: final) }
        var rest = back
        while let index = rest.popFirst() {
            let more = refused.subtracting(back).filter { grounds(of: $0).absence.contains(index) }
            back.formUnion(more)
            rest.formUnion(more)
        }
        for index in back.sorted() where reconsiderations < steps.count {
            guard let refusal = refusals.removeValue(forKey: index) else { continue }
            reconsiderations += 1
            steps[index].outcome = refusal.outcome
            steps[index].share = refusal.share
        }
    }

    private func grounds(of index: Int) -> Grounds { refusals[index]?.grounds ?? Grounds() }

    /// Notes the grounds of the refusal of an operation, if it was refused.
    mutating func note(_ grounds: Grounds, of index: Int) {
        var grounds = grounds
        grounds.presence.remove(index)
        grounds.absence.remove(index)
        refusals[index]?.grounds.presence.formUnion(grounds.presence)
        refusals[index]?.grounds.absence.formUnion(grounds.absence)
    }

    /// Returns the grounds for the place of a record: the operations on the records above it, and
    /// those that make or end shares.
    mutating func groundsOfPlace(of name: RecordName) throws(ServerError) -> Grounds {
        var grounds = Grounds(presence: Set(removedShares.values))
        var seen: Set<RecordName> = []
        var next: RecordName? = name
        while let at = next, seen.insert(at).inserted {
            if let made = madeShares[at] { grounds.presence.insert(made.operation) }
            let plan = overlay.planned[at]
            if let plan {
                // Without a new record, its planned children could not exist either.
                let path = plan.before == nil ? \Grounds.absence : \Grounds.presence
                grounds[keyPath: path].insert(plan.operation)
            }
            let record = try overlay.current(at)
            if record == nil { grounds.absence.formUnion(operations(on: at)) }
            next = (record ?? plan?.record)?.parent
        }
        return grounds
    }

    /// Returns the grounds for the references of a record.
    func groundsOfReferences(of plan: PlannedRecord) -> Grounds {
        var grounds = Grounds()
        for reference in plan.content?.references ?? [] {
            if let target = overlay.planned[reference.target] {
                grounds.presence.insert(target.operation)
            } else {
                grounds.absence.formUnion(operations(on: reference.target))
            }
        }
        return grounds
    }

    private func operations(on name: RecordName) -> [Int] {
        steps.indices.filter { steps[$0].name == name }
    }
}
