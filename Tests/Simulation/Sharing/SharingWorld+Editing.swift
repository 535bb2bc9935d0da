import RecordModel
import RecordStore

/// What somebody does on a machine.
extension SharingWorld {
    func edit(
        _ action: SharingStep.Action, _ machine: Int, _ step: Int, _ mark: String
    ) throws {
        switch action {
        case .edit(let key, let field):
            guard try machines[machine].replica.text(key.name, zone: key.zone) != nil else {
                return
            }
            try set(field, of: key, machine, step, mark) { _ in }
        case .hang(let key, let parent):
            try set("h", of: key, machine, step, mark) { $0.members["$parent"] = parent }
        case .attach(let key): try attach(key, machine, step, mark)
        case .delete(let key): try delete(key, machine, step)
        case .rename(let key, let name): try rename(key, to: name, machine, step)
        case .removeZone(let zone): try removeZone(zone, machine, step)
        default: break
        }
        changed.insert(machine)
    }

    private func set(
        _ field: String, of key: Step.Key, _ machine: Int, _ step: Int, _ mark: String,
        _ change: (inout Record) -> Void
    ) throws {
        let (replica, user) = (machines[machine].replica, machines[machine].user)
        guard try hasZone(key.zone, machine) else { return }
        var record = try Record(replica, key)
        let (visible, over) = (record.values, record.values(of: field))
        let word = "<\(Words.prefix)\(mark)\(field)>"
        record.members[field] = word
        record.setNumber(step)
        change(&record)
        let changedRecord = record
        guard try write(key.zone, machine, { try changedRecord.save(on: replica) }) else { return }
        oracle.edit(
            key, step: step, machine: machine, user: user, word: word, over: over, visible: visible)
    }

    private func delete(_ key: Step.Key, _ machine: Int, _ step: Int) throws {
        let (replica, user) = (machines[machine].replica, machines[machine].user)
        guard try replica.entry(key.name, key.zone) != nil else { return }
        let visible = try Record(replica, key).values
        let kept = try replica.valuesOfConflicts(zone: key.zone)
        guard try write(key.zone, machine, { try replica.delete(key.name, zone: key.zone) }) else {
            return
        }
        deletedInRound.insert(key)
        oracle.delete(
            key, step: step, machine: machine, user: user, visible: visible, kept: kept)
    }

    private func rename(
        _ key: Step.Key, to name: String, _ machine: Int, _ step: Int
    ) throws {
        let (replica, user) = (machines[machine].replica, machines[machine].user)
        let new = Step.Key(zone: key.zone, name: name)
        guard try replica.entry(key.name, key.zone) != nil,
            try replica.entry(name, key.zone) == nil
        else { return }
        let visible = try Record(replica, key).values
        let kept = try replica.valuesOfConflicts(zone: key.zone)
        let isDone = try write(key.zone, machine) {
            try replica.rename(key.name, to: name, zone: key.zone)
        }
        guard isDone else { return }
        deletedInRound.insert(key)
        oracle.rename(
            key, to: new, step: step, machine: machine, user: user, visible: visible, kept: kept)
    }

    private func removeZone(_ zone: String, _ machine: Int, _ step: Int) throws {
        guard machines[machine].isOfOwner else { return }
        for name in try machines[machine].replica.names(zone: zone) {
            try delete(Step.Key(zone: zone, name: name), machine, step)
        }
        try machines[machine].replica.removeZone(zone)
    }

    /// A participant makes no zones: the mount refuses that.
    private func hasZone(_ zone: String, _ machine: Int) throws -> Bool {
        try machines[machine].isOfOwner || info(of: zone, machine) != nil
    }

    func info(of zone: String, _ machine: Int) throws -> ZoneInfo? {
        try machines[machine].replica.zone(zone)
    }

    /// Does it, where the zone may be written to; where it may not, it has to be refused. Where only some
    /// records may be, the machine says which; what it takes wrongly the server refuses.
    /// - Returns: whether it was done.
    func write(_ zone: String, _ machine: Int, _ body: () throws -> Void) throws -> Bool {
        let permission = try info(of: zone, machine)?.permission
        do {
            try body()
        } catch let error as RecordError
            where error.code == .accessDenied
            && permission != .readWrite
        {
            trace.append("machine \(machine) may not write in \(zone)")
            return false
        }
        if permission == .readOnly {
            problems.append("Machine \(machine) has written in \(zone), and may not.")
        }
        return true
    }
}
