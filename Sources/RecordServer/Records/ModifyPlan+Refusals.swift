import RecordModel
import RecordWire

/// What becomes of an operation that was refused for what another one would have done, when that one is
/// refused itself: it is looked at again.
extension ModifyPlan {
    /// Other operations on which a refusal rests.
    struct Grounds {
        /// It holds as long as one of these is done.
        var presence: Set<Int> = []
        /// It holds as long as one of these is not done.
        var absence: Set<Int> = []
    }

    /// An operation as it was before it was refused.
    struct Refusal {
        let outcome: Step.Outcome
        let share: ShareStep?
        var grounds = Grounds()
    }

    var refused: Set<Int> { Set(steps.indices.filter { steps[$0].error != nil }) }

    /// Takes refusals back that rest on operations which were refused since `before` for what no
    /// other one of these does. As many as there are operations at most, so that passes end.
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

    /// Notes on what the refusal of an operation rests, if it was refused.
    mutating func note(_ grounds: Grounds, of index: Int) {
        var grounds = grounds
        grounds.presence.remove(index)
        grounds.absence.remove(index)
        refusals[index]?.grounds.presence.formUnion(grounds.presence)
        refusals[index]?.grounds.absence.formUnion(grounds.absence)
    }

    /// What the place of a record rests on: the operations on the records above it, and those that make
    /// or end shares.
    mutating func groundsOfPlace(of name: RecordName) throws(ServerError) -> Grounds {
        var grounds = Grounds(presence: Set(removedShares.values))
        var seen: Set<RecordName> = []
        var next: RecordName? = name
        while let at = next, seen.insert(at).inserted {
            if let made = madeShares[at] { grounds.presence.insert(made.operation) }
            let plan = overlay.planned[at]
            if let plan {
                // Without a new record, what is to hang on it could not be either.
                let path = plan.before == nil ? \Grounds.absence : \Grounds.presence
                grounds[keyPath: path].insert(plan.operation)
            }
            let record = try overlay.current(at)
            if record == nil { grounds.absence.formUnion(operations(on: at)) }
            next = (record ?? plan?.record)?.parent
        }
        return grounds
    }

    /// What the references of a record rest on.
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
