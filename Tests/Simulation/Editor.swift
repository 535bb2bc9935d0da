import RecordModel
import RecordStore

/// Does what somebody does to records on one machine, and tells the oracle of it.
struct Editor {
    let device: Int
    let replica: Replica
    let step: Int
    /// Makes the values of its edits its own.
    let mark: String

    func perform(_ action: Step.Action, _ oracle: inout Oracle) throws {
        switch action {
        case .edit(let key, let fields):
            var record = try Record(replica, key)
            try set(fields, of: &record, &oracle)
        case .replace(let key, let fields):
            var record = try Record(replica, key)
            let before = record
            record.empty()
            try set(fields, of: &record, after: before, &oracle)
        case .editLine(let key, let line): try edit(line, of: key, &oracle)
        case .format(let key, let style):
            guard try replica.text(key.name, zone: key.zone, type: key.type) != nil else { return }
            oracle.rewrite(key)
            try Record(replica, key).save(on: replica, style: style)
        case .attach(let key): try attach(key, &oracle)
        case .delete(let key): try delete(key, &oracle)
        case .deleteAndMake(let key, let fields):
            let before = try Record(replica, key)
            try delete(key, &oracle)
            var record = try Record(replica, key)
            // Another record of the type may show as the name now: then it is edited.
            let isOther = try replica.entry(key.name, key.zone, key.type) != nil
            try set(fields, of: &record, after: isOther ? nil : before, &oracle)
        case .rename(let key, let name): try rename(key, to: name, &oracle)
        case .move(let key, let zone):
            try move(
                key, to: Step.Key(zone: zone, type: key.type, name: key.name), &oracle)
        case .retype(let key, let type):
            try move(
                key, to: Step.Key(zone: key.zone, type: type, name: key.name), &oracle)
        case .evict: _ = try replica.store.assets.evictAssets(keeping: 0)
        case .removeZone(let zone):
            for type in try replica.types(zone) {
                // What one of them shows as may change when another one goes.
                while let name = try replica.names(zone: zone, type: type).first {
                    try delete(Step.Key(zone: zone, type: type, name: name), &oracle)
                }
            }
            oracle.forgetAnswers(of: zone)
            oracle.removeZone(zone)
            try replica.removeZone(zone)
        case .undo(let count): try takeBack(.latest(count), &oracle)
        case .redo: try takeBack(.latestUndone(1), &oracle)
        case .round, .restart, .jump, .backUp, .restoreServer, .read: break
        }
    }

    /// - Parameter before: what the record was, when nothing of that stays.
    private func set(
        _ fields: [String], of record: inout Record, after before: Record? = nil,
        _ oracle: inout Oracle
    ) throws {
        let before = before ?? record
        let replaced = fields.flatMap { before.values(of: $0) }
        for field in fields { record.members[field] = "<\(mark).\(field)>" }
        record.setNumber(step)
        let gone = Set(before.values).subtracting(record.values).subtracting(replaced)
        oracle.edit(
            record.key, step: step, device: device, values: fields.map { "<\(mark).\($0)>" },
            over: replaced, removing: gone.sorted(), visible: before.values)
        try record.save(on: replica)
    }

    private func edit(_ line: Int, of key: Step.Key, _ oracle: inout Oracle) throws {
        var record = try Record(replica, key)
        let visible = record.values
        var lines = record.members["t"].map { $0.split(separator: "\n").map(String.init) } ?? []
        var values: [String] = []
        var replaced: [String] = []
        // Between two that are edited stands one that nobody edits.
        for place in 0..<Step.lineCount where lines.count < 2 * Step.lineCount {
            lines += ["<\(mark).\(place)>", "---- \(place)"]
            values.append("<\(mark).\(place)>")
        }
        if values.isEmpty {
            replaced = [lines[2 * line]]
            lines[2 * line] = "<\(mark).l>"
            values = ["<\(mark).l>"]
        }
        record.members["t"] = lines.map { $0 + "\n" }.joined()
        oracle.edit(
            key, step: step, device: device, values: values, over: replaced, visible: visible)
        try record.save(on: replica)
    }

    private func attach(_ key: Step.Key, _ oracle: inout Oracle) throws {
        guard try replica.text(key.name, zone: key.zone, type: key.type) != nil else { return }
        let record = try Record(replica, key)
        let bytes = Array("<\(mark).photo>".utf8)
        oracle.edit(
            key, step: step, device: device, values: [SHA256.hash(bytes).hex], over: record.hashes,
            visible: record.values)
        try replica.attach(bytes, to: key.name, zone: key.zone, type: key.type)
    }

    private func delete(_ key: Step.Key, _ oracle: inout Oracle) throws {
        guard try replica.entry(key.name, key.zone, key.type) != nil else { return }
        try noteDeletion(of: key, &oracle)
        try replica.delete(key.name, zone: key.zone, type: key.type)
    }

    private func rename(_ key: Step.Key, to name: String, _ oracle: inout Oracle) throws {
        guard name != key.name, try replica.entry(key.name, key.zone, key.type) != nil else {
            return
        }
        try rename(key, to: Step.Key(zone: key.zone, type: key.type, name: name), &oracle)
    }

    private func rename(
        _ key: Step.Key, to target: Step.Key, _ oracle: inout Oracle
    ) throws {
        oracle.rename(key, to: target)
        oracle.show(try Record(replica, key).values, as: target, device: device)
        // Another record may show as the name then.
        while try replica.entry(target.name, target.zone, target.type) != nil {
            try delete(target, &oracle)
        }
        try noteDeletion(of: key, &oracle)
        try replica.rename(
            key.name, to: target.name, zone: key.zone, type: key.type, target: target.type)
    }

    /// `mv` into another zone or type, without files beside it.
    private func move(
        _ key: Step.Key, to target: Step.Key, _ oracle: inout Oracle
    ) throws {
        guard target != key, try Record(replica, key).hashes.isEmpty,
            try replica.file(key.name, zone: key.zone, type: key.type) != nil
        else { return }
        oracle.rename(key, to: target)
        let visible = try Record(replica, target).values
        oracle.edit(
            target, step: step, device: device, values: [], over: visible, visible: visible)
        oracle.show(try Record(replica, key).values, as: target, device: device)
        try noteDeletion(of: key, &oracle)
        try replica.move(
            key.name, from: key.zone, to: target.zone, type: key.type, target: target.type)
    }

    private func noteDeletion(of key: Step.Key, _ oracle: inout Oracle) throws {
        oracle.delete(
            key, step: step, device: device, visible: try Record(replica, key).values,
            kept: try replica.valuesOfConflicts(zone: key.zone))
    }
}
