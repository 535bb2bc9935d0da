import RecordModel
import RecordWire
import Synchronization

/// The former states of records with long texts, before their last change. A client that has such a
/// state receives only the changes in the texts. When the state is not here, for example after a
/// restart, the client receives the whole texts.
package final class RecentRecords: Sendable {
    /// The most bytes of all states together.
    private static let maximumBytes = 4 << 20
    /// The sizes of a record that is kept: a shorter one is sent whole just as quickly.
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

    /// A record as it was, and its new tag.
    struct Change: Sendable {
        let before: StoredRecord
        let tag: Int64
    }

    /// Makes the change of a planned record. Returns nil for a record that is not worth keeping.
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

    /// Returns the record as a client has it that knows the feed up to that position.
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
