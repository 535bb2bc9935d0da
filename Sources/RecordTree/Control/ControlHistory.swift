import RecordModel
import RecordStore

/// The directories of records with history. An existing record has the name of its file there, a
/// deleted one the name that its record name gives. When another record now shows under that name,
/// the name of the deleted one ends in `@deleted`, which no file name does.
extension ControlDirectory {
    private static let goneEnding = Array("@deleted".utf8)

    func historyNames(
        in zone: ZoneID, _ type: RecordTypeName
    ) throws(RecordError) -> [ControlName] {
        let all = try store.past.shownHistoryNames(in: zone, type: type)
        let shown = Set(all.compactMap(\.stem))
        return all.map { name, stem in
            let own = Stem(encoding: name)
            let isTaken = stem == nil && shown.contains(own)
            return ControlName(
                stem?.bytes ?? own.bytes + (isTaken ? Self.goneEnding : []),
                .history(zone, type, name))
        }
    }

    private func historyName(
        _ name: RecordName, in zone: ZoneID, _ type: TypeID?
    ) throws(RecordError) -> [UInt8] {
        let stem = Stem(encoding: name)
        guard let type else { return stem.bytes }
        if let record = try store.record(named: name, in: zone), record.type == type {
            return record.stem.bytes
        }
        let isTaken = try shownRecord(stem, in: type) != nil
        return stem.bytes + (isTaken ? Self.goneEnding : [])
    }

    /// Returns the name of the record that shows under a stem.
    private func shownRecord(_ stem: Stem, in type: TypeID) throws(RecordError) -> RecordName? {
        guard let entry = try store.record(type, stem), entry.state != .draftOnly else {
            return nil
        }
        return try store.meta(of: entry.id)?.name
    }

    func findHistory(
        _ name: [UInt8], in zone: ZoneID, _ type: RecordTypeName
    ) throws(RecordError) -> ControlPath? {
        let isGone = name.suffix(Self.goneEnding.count).elementsEqual(Self.goneEnding)
        let stem = Stem(bytes: isGone ? Array(name.dropLast(Self.goneEnding.count)) : name)
        let place = try store.type(zone, type)?.id
        if !isGone, let place, let shown = try shownRecord(stem, in: place) {
            return try store.past.hasHistory(of: shown, in: zone, type: type)
                ? .history(zone, type, shown) : nil
        }
        let record: RecordName
        if let decoded = stem.decoded {
            guard try store.past.hasHistory(of: decoded, in: zone, type: type) else { return nil }
            record = decoded
        } else {
            // Only the list of names shows which name a shortened stem belongs to.
            guard stem.isShortened,
                let named = try store.past.historyNames(in: zone, type: type)
                    .first(where: { Stem(encoding: $0) == stem })
            else { return nil }
            record = named
        }
        guard try historyName(record, in: zone, place) == name else { return nil }
        return .history(zone, type, record)
    }
}
