import Foundation
import RecordModel
import RecordStore
import RecordTree
import Synchronization
import Testing

#if canImport(Glibc)
import Glibc
#endif

/// Below `.recordfs`, as the kernel walks there.
extension TreeFixture {
    var box: ZoneInfo {
        get throws { try #require(try store.zone(.private, .me, ZoneName("Box"))) }
    }

    var note: TypeInfo {
        get throws { try #require(try store.type(try box.id, RecordTypeName("Note"))) }
    }

    /// The directory at a path below `.recordfs`.
    func control(_ path: String) throws -> NodeNumber {
        try #require(try find(".recordfs/" + path), "\(path) is not there").node
    }

    /// What is at a path below the mount point; nil when it is not there.
    func find(_ path: String) throws -> NodeEntry? {
        var entry: NodeEntry?
        for component in path.split(separator: "/") {
            guard let next = try lookup(String(component), in: entry?.node ?? .root) else {
                return nil
            }
            entry = next
        }
        return entry
    }

    func size(_ path: String) throws -> Int64? { try find(path)?.attributes.size }

    /// What a reader gets from open to close.
    func content(_ path: String) throws -> String {
        let entry = try #require(try find(path), "\(path) is not there")
        let handle = try tree.open(entry.node, flags: O_RDONLY, caller: Self.user).handle
        defer { tree.release(handle) }
        return try read(handle)
    }

    /// Saves many records in one transaction.
    @discardableResult
    func save(
        _ names: some Sequence<String>, _ text: String = #"{"n":1}"#, type: String = "Note"
    ) throws -> [RecordID] {
        let zone = try box.id
        return try store.write(author: .mount) { transaction throws(RecordError) in
            let type = try transaction.makeType(zone, RecordTypeName(type)).id
            var ids: [RecordID] = []
            for name in names {
                ids.append(
                    try transaction.records.save(
                        text: Array(text.utf8), type: type, stem: Stem(name)
                    ).id)
            }
            return ids
        }
    }

    /// Saves and deletes many records in one transaction.
    func trash(
        _ names: some Sequence<String>, _ text: String = #"{"n":1}"#, type: String = "Note"
    ) throws {
        let zone = try box.id
        try store.write(author: .mount) { transaction throws(RecordError) in
            let type = try transaction.makeType(zone, RecordTypeName(type)).id
            for name in names {
                let saved = try transaction.records.save(
                    text: Array(text.utf8), type: type, stem: Stem(name))
                try transaction.records.finalizeDelete(saved.id)
            }
        }
    }

    /// How many statements `body` lets the store read, without those of the full-text index for
    /// its own tables: some per term, and one per match for its rank.
    func reads(_ body: () throws -> Void) throws -> Int {
        let count = Counter()
        store.traceReads { statement in
            if !statement.contains("record_search_") { count.add() }
        }
        try body()
        store.traceReads(nil)
        return count.value
    }

    private final class Counter: Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock { $0 } }
        func add() { count.withLock { $0 += 1 } }
    }

    /// A listing in small parts, as the kernel fetches it.
    func list(_ directory: NodeNumber, atOnce: Int = 100) throws -> [String] {
        try entries(in: directory, atOnce: atOnce).map { String(decoding: $0.name, as: UTF8.self) }
    }

    func entries(in directory: NodeNumber, atOnce: Int = 100) throws -> [ListedEntry] {
        let opened = try tree.openDirectory(directory)
        defer { tree.release(opened.handle) }
        var entries: [ListedEntry] = []
        var offset: UInt64 = 0
        while true {
            var taken = 0
            try tree.list(opened.handle, from: offset) { listed in
                guard taken < atOnce else { return false }
                taken += 1
                offset = listed.next
                entries.append(listed)
                return true
            }
            if taken == 0 { return entries }
        }
    }
}
