import Foundation
import RecordModel
import RecordStore
import RecordTree
import TestSupport
import Testing

/// A listing that goes on while the directory changes: what it tells of a name is what a lookup
/// tells at that moment, because the kernel keeps the one as it keeps the other.
@Suite("Listings while their directory changes")
struct ListedStateTests {
    private let fixture: TreeFixture

    init() throws {
        fixture = try TreeFixture()
        fixture.observe()
    }

    private func list(
        _ directory: NodeNumber, between: (_ taken: [ListedEntry]) throws -> Void
    ) throws -> [ListedEntry] {
        let opened = try fixture.tree.openDirectory(directory)
        defer { fixture.tree.release(opened.handle) }
        var (entries, offset) = ([ListedEntry](), UInt64(0))
        while true {
            var next: ListedEntry?
            try fixture.tree.list(opened.handle, from: offset) { listed in
                guard next == nil else { return false }
                next = listed
                return true
            }
            guard let next else { return entries }
            try check(next, in: directory)
            offset = next.next
            entries.append(next)
            try between(entries)
        }
    }

    private func check(_ listed: ListedEntry, in directory: NodeNumber) throws {
        let name = String(decoding: listed.name, as: UTF8.self)
        let found = try #require(try fixture.lookup(name, in: directory), "\(name) is not there")
        #expect(listed.entry.node == found.node, "\(name)")
        let (shown, expected) = (listed.entry.attributes, found.attributes)
        #expect(shown.inode == expected.inode, "\(name)")
        #expect(shown.size == expected.size, "\(name)")
        #expect(shown.mode == expected.mode, "\(name)")
        #expect(shown.modified == expected.modified, "\(name)")
        #expect(shown.changed == expected.changed, "\(name)")
        #expect(listed.entry.isCacheable == found.isCacheable, "\(name)")
    }

    private func names(_ entries: [ListedEntry]) -> [String] {
        entries.map { String(decoding: $0.name, as: UTF8.self) }
    }

    enum Change: CaseIterable, Sendable {
        case written, replaced, removed, renamed, refused, timed, received, removedElsewhere
    }

    @Test(
        "a record that changes before it is listed is listed as it is then",
        arguments: Change.allCases)
    func changed(change: Change) throws {
        for number in 0..<8 { try fixture.put(#"{"n":1}"#, as: "r\(number).json") }
        try fixture.send()
        try fixture.put(#"{"n":22}"#, as: "tmp")
        let listed = try list(fixture.notes) { taken in
            guard taken.count == 2 else { return }
            switch change {
            case .written: try fixture.put(#"{"n":123456789}"#, as: "r5.json")
            case .replaced: try fixture.rename("tmp", to: "r5.json")
            case .removed: try fixture.remove("r5.json")
            case .renamed: try fixture.rename("r5.json", to: "r9.json")
            case .refused: #expect(throws: RecordError.self) { try fixture.put("{", as: "r5.json") }
            case .timed:
                var changes = NodeChanges()
                changes.modified = .at(Timestamp(seconds: 1_000_000_000))
                let node = try #require(try fixture.lookup("r5.json")).node
                _ = try fixture.tree.setAttributes(of: node, changes, handle: nil)
            case .received:
                try fixture.receive(
                    .upsert(
                        [RecordField(name: FieldName("n"), value: .int64(12345))], parent: nil),
                    name: "r5")
            case .removedElsewhere: try fixture.receive(.delete, name: "r5")
            }
        }
        let all = names(listed)
        #expect(Set(all).count == all.count, "\(all)")
        let isGone = [.removed, .renamed, .removedElsewhere].contains(change)
        #expect(all.contains("r5.json") != isGone)
        let others = (0..<8).filter { $0 != 5 }.map { "r\($0).json" }
        #expect(Set(others).isSubset(of: all))
    }

    @Test("a file that is open is listed with what was written into it")
    func open() throws {
        for number in 0..<4 { try fixture.put(#"{"n":1}"#, as: "r\(number).json") }
        let handle = try fixture.openNew("r3.json")
        defer { fixture.tree.release(handle) }
        let listed = try list(fixture.notes) { taken in
            if taken.count == 1 { try fixture.write(#"{"n":1}          "#, to: handle) }
        }
        #expect(listed.last?.entry.attributes.size == 17)
    }

    @Test("a name that is made while the directory is listed is listed once or not at all")
    func made() throws {
        for number in 0..<4 { try fixture.put(#"{"n":1}"#, as: "r\(number).json") }
        let first = try fixture.openNew("early.json")
        var late: HandleNumber?
        let listed = try list(fixture.notes) { taken in
            switch taken.count {
            case 1:
                // The name that waited for its first save has a row from now on.
                try fixture.write("{}", to: first)
                try fixture.tree.flush(first)
            case 2: late = try fixture.openNew("late.json")
            default: break
            }
        }
        fixture.tree.release(first)
        if let late { fixture.tree.release(late) }
        let all = names(listed)
        #expect(all.filter { $0 == "early.json" }.count == 1)
        #expect(all.filter { $0 == "late.json" }.count <= 1)
        #expect(Set((0..<4).map { "r\($0).json" }).isSubset(of: all))
    }

    /// - Parameter ended: the share that ends when the first one was listed.
    @Test("no share is left out when another one has ended meanwhile", arguments: ["a", "b", "c"])
    func shares(ended: String) throws {
        let zone = try fixture.box.id
        let names = ["a", "b", "c"]
        for name in names {
            try fixture.put("{}", as: "\(name).json")
            try fixture.store.write(author: .sync) { transaction throws(RecordError) in
                try transaction.sharing.noteShare(
                    Share(
                        name: RecordName("share-\(name)"), root: RecordName(name),
                        permission: .readWrite, text: "{}".b), of: zone)
            }
        }
        let listed = try list(fixture.notes) { taken in
            guard taken.count == 1 else { return }
            try fixture.store.write(author: .sync) { transaction throws(RecordError) in
                try transaction.sharing.noteShareEnded(RecordName("share-\(ended)"), of: zone)
            }
        }
        let stay = names.filter { $0 == "a" || $0 != ended }
        #expect(
            self.names(listed)
                == stay.map { ".\($0).share.json" } + names.map { "\($0).json" })
    }

    @Test(
        "names that stay are listed once in random changes, each as a lookup tells",
        arguments: LongForm.seeds(6, of: 60))
    func walk(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let stable = (0..<12).map { "stay\($0).json" } + ["stay.txt", "stay.md"]
        for name in stable { try fixture.put(#"{"n":1}"#, as: name) }
        try fixture.put("bytes", as: "stay0@photo.jpg")
        let moving = (0..<6).map { "go\($0).json" } + ["go.txt", ".go", "stay1@a.bin"]
        for _ in 0..<6 {
            let listed = try list(fixture.notes) { _ in try change(&random, moving, stable) }
            let all = names(listed)
            for name in stable + ["stay0@photo.jpg"] {
                #expect(all.filter { $0 == name }.count == 1, "\(name)")
            }
        }
    }

    private func change(
        _ random: inout SeededRandom, _ moving: [String], _ stable: [String]
    ) throws {
        let name = random.pick(moving)
        _ = try code {
            switch random.below(7) {
            case 0, 1: try fixture.put(#"{"n":\#(random.next() >> 1)}"#, as: name)
            case 2: try fixture.remove(name)
            case 3: try fixture.rename(name, to: random.pick(moving))
            // The files that stay change, too.
            case 4: try fixture.put(#"{"n":\#(random.below(1 << 30))}"#, as: random.pick(stable))
            case 5:
                fixture.clock.advance(.seconds(2))
                try fixture.maintain()
            default: break
            }
        }
    }
}
