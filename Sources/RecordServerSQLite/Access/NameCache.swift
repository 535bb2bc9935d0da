import RecordModel
import RecordServerCore
import Synchronization

/// The names that many records repeat (of types, fields, users, devices) and their numbers in the
/// table `names`. Rows of that table never change, so that copies stay correct.
struct NameTable: Sendable {
    private(set) var names: [Int64: [UInt8]] = [:]
    /// The numbers by name. The keys are texts, which are hashed faster than arrays.
    private var numbers: [Text: Int64] = [:]
    /// The names that were not in the cache before.
    fileprivate var added: [Int64: [UInt8]] = [:]

    func number(_ name: [UInt8]) -> Int64? { numbers[Text(utf8: name)] }

    mutating func add(_ name: [UInt8], _ number: Int64) {
        keep(name, number)
        added[number] = name
    }

    fileprivate mutating func keep(_ name: [UInt8], _ number: Int64) {
        names[number] = name
        numbers[Text(utf8: name)] = number
    }
}

/// The committed names that were used lately.
final class NameCache: Sendable {
    /// The most names that are kept. Clients choose the names of devices, which could fill the
    /// memory without a limit.
    private static let limit = 10_000
    private let table = Mutex(NameTable())

    var snapshot: NameTable { table.withLock { $0 } }

    /// Adds the names that an access found. Add committed names only: a number that was rolled back
    /// is given again.
    func add(_ other: NameTable) {
        guard !other.added.isEmpty else { return }
        table.withLock { table in
            if table.names.count > Self.limit { table = NameTable() }
            for (number, name) in other.added { table.keep(name, number) }
        }
    }
}

/// The data that one process keeps of a storage besides its rows. It stays correct when other
/// processes write: rows of names never change, and a schema is compared with its row.
struct StorageCaches: Sendable {
    let names = NameCache()
    let schemas = SchemaCache()
}
