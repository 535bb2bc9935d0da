import RecordModel
import RecordWire
import Synchronization

/// How records with long texts were before their last change: a client that has them so is told what is
/// changed in their texts. What is not here, as after a restart, is told whole.
package final class RecentRecords: Sendable {
    /// All together, in bytes.
    private static let maximumBytes = 4 << 20
    /// Of one record: shorter ones are as quickly told whole.
    private static let recordBytes = 1_024...(1 << 20)

    private struct Key: Hashable {
        let zone: ZoneKey
        let name: RecordName
    }

    private struct State {
        var entries: [Key: (before: StoredRecord, tag: Int64)] = [:]
        var order: [Key] = []
        var bytes = 0
    }

    private let state = Mutex(State())

    /// A record as it was, and the tag that it has instead.
    struct Change: Sendable {
        let before: StoredRecord
        let tag: Int64
    }

    /// Nil for one that is not worth it.
    static func change(_ plan: PlannedRecord) -> Change? {
        guard plan.isOwn, let before = plan.before, !before.isDeleted, !plan.record.isDeleted,
            recordBytes.contains(before.bytes), recordBytes.contains(plan.record.bytes)
        else { return nil }
        return Change(before: before, tag: plan.record.tag)
    }

    func note(_ changes: [Change], in zone: ZoneKey) {
        state.withLock { state in
            for change in changes {
                let key = Key(zone: zone, name: change.before.name)
                if let old = state.entries.removeValue(forKey: key) {
                    state.bytes -= old.before.bytes
                    state.order.removeAll { $0 == key }
                }
                state.entries[key] = (change.before, change.tag)
                state.order.append(key)
                state.bytes += change.before.bytes
            }
            while state.bytes > Self.maximumBytes, !state.order.isEmpty {
                let oldest = state.order.removeFirst()
                state.bytes -= state.entries.removeValue(forKey: oldest)?.before.bytes ?? 0
            }
        }
    }

    /// The record as a client has it who knows the feed up to that position.
    func before(_ record: StoredRecord, in zone: ZoneKey, knownTo position: Int64) -> StoredRecord?
    {
        state.withLock { state in
            guard let entry = state.entries[Key(zone: zone, name: record.name)],
                entry.tag == record.tag, entry.before.position <= position
            else { return nil }
            return entry.before
        }
    }
}
