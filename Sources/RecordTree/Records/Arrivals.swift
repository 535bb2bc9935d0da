import RecordModel
import Synchronization

/// The records that have just arrived from other machines and that no program has seen here.
///
/// A program looks for a name, finds nothing, and makes the file. When a record of this name arrives
/// in between, the program cannot know of it: its text is merged as if the record had arrived after
/// the save (MountContract, "A save after another change").
final class Arrivals: Sendable {
    private let options: TreeOptions
    private let table = StateLock(ArrivalTable())
    /// While it is false, the calls of programs take no lock.
    private let isFilled = Atomic(false)

    init(_ options: TreeOptions) { self.options = options }

    var hasAny: Bool { isFilled.load(ordering: .acquiring) }

    func add(_ record: RecordID, in type: TypeID) {
        table.withLock { table in
            table.add(record, in: type, at: options.clock.uptime)
            isFilled.store(true, ordering: .releasing)
        }
    }

    /// Notes that a thread was told that the record's name exists.
    func noteLookup(_ record: RecordID, by thread: Int32) {
        edit { $0.noteLookup(record, by: thread) }
    }

    /// Notes that a program has read the record.
    func noteRead(_ record: RecordID) { edit { $0.remove(record) } }

    /// Notes that a program has listed the records of a directory.
    func noteListing(_ type: TypeID) { edit { $0.remove(type) } }

    /// Returns whether a thread replaces a record that has just arrived and that nobody has seen.
    /// The kernel looks up the name in the call that replaces it: this one lookup does not count.
    func isUnseen(_ record: RecordID, by thread: Int32) -> Bool {
        guard hasAny else { return false }
        return table.withLock { $0.isUnseen(record, by: thread, at: options.clock.uptime) }
    }

    private func edit(_ change: (inout ArrivalTable) -> Void) {
        guard hasAny else { return }
        table.withLock { table in
            change(&table)
            table.removeOld(at: options.clock.uptime)
            isFilled.store(!table.isEmpty, ordering: .releasing)
        }
    }
}

/// The arrivals of the last minute, at most the last 512 to 1024 of them.
///
/// INVARIANT: none is in both halves.
struct ArrivalTable: CheckedState {
    private struct Arrival {
        let type: TypeID
        /// The time since the start of the machine.
        let time: Duration
        /// The only thread that was told that the name exists.
        var thread: Int32?
    }

    /// A program that makes a file later than this may have heard of the record in another way.
    private static let age: Duration = .seconds(60)
    private static let halfMax = 512

    private var newer: [RecordID: Arrival] = [:]
    private var older: [RecordID: Arrival] = [:]
    private var last: Duration = .zero

    var isEmpty: Bool { newer.isEmpty && older.isEmpty }
    var size: Int { newer.count + older.count }

    var violations: [String] {
        newer.keys.allSatisfy { older[$0] == nil } ? [] : ["an arrival is counted twice"]
    }

    mutating func add(_ record: RecordID, in type: TypeID, at time: Duration) {
        remove(record)
        if newer.count == Self.halfMax { (older, newer) = (newer, [:]) }
        newer[record] = Arrival(type: type, time: time)
        last = time
    }

    mutating func noteLookup(_ record: RecordID, by thread: Int32) {
        guard var arrival = newer[record] ?? older[record] else { return }
        guard arrival.thread == nil else { return remove(record) }
        arrival.thread = thread
        if newer[record] == nil { older[record] = arrival } else { newer[record] = arrival }
    }

    mutating func remove(_ record: RecordID) {
        newer[record] = nil
        older[record] = nil
    }

    mutating func remove(_ type: TypeID) {
        newer = newer.filter { $0.value.type != type }
        older = older.filter { $0.value.type != type }
    }

    /// Forgets all when the last one is old.
    mutating func removeOld(at time: Duration) {
        if time - last >= Self.age { (newer, older) = ([:], [:]) }
    }

    func isUnseen(_ record: RecordID, by thread: Int32, at time: Duration) -> Bool {
        guard let arrival = newer[record] ?? older[record], time - arrival.time < Self.age else {
            return false
        }
        return arrival.thread == nil || arrival.thread == thread
    }
}
