import RecordModel
import RecordStore
import Synchronization
import Testing

@testable import RecordTree

/// Each state of the tree checks its own rules. Here each state breaks one, and a sound state
/// breaks none.
@Suite("Invariants of the tree's states")
struct InvariantTests {
    @Test("a node that answers to the number of another node is found")
    func nodes() {
        var sound = NodeTable()
        let number = sound.lookUp(.owner(.me))
        sound.rebind(number, to: .scratch(ScratchID(rawValue: 1)))
        #expect(sound.violations == [])
        let broken = NodeTable(numbers: [.owner(.me): number])
        #expect(broken.violations == ["a node answers to a number that names another one"])
        #expect(NodeTable(nodes: [.root: .root]).violations == ["a computed number is counted"])
        #expect(
            NodeTable(moved: [number: .root]).violations
                == ["a counted number is among the moved ones"])
    }

    @Test("a handle that was released takes no other file, so that its caller closes that one")
    func releasedHandle() {
        let handle = OpenHandle(HandleNumber(rawValue: 1), .bytes([1]), flags: 0)
        #expect(handle.become(.bytes([2])))
        guard case .bytes([2]) = handle.release() else {
            Issue.record("another file was to be closed")
            return
        }
        #expect(!handle.become(.bytes([3])))
        guard case .bytes([2]) = handle.current else {
            Issue.record("a released handle took another file")
            return
        }
    }

    @Test("a handle under another number, or under one that is given again, is found")
    func handles() {
        var sound = HandleTable()
        let number = sound.add(.bytes([]), flags: 0)
        #expect(sound.violations == [])
        let other = HandleNumber(rawValue: 7)
        let handle = OpenHandle(number, .bytes([]), flags: 0)
        #expect(
            HandleTable(handles: [other: handle], next: 8).violations
                == ["a handle is under another number"])
        #expect(
            HandleTable(handles: [number: handle], next: 1).violations
                == ["a handle has a number that is given again"])
    }

    @Test("a local file that disagrees with its place, its identity or its directory is found")
    func scratch() {
        let place = ScratchPlace(directory: .root, name: Array("f".utf8))
        var sound = ScratchTable()
        let id = sound.id(at: place)
        sound.learn(HostIdentity(device: 1, inode: 2), of: id)
        let inside = ScratchPlace(directory: .scratch(id), name: Array("g".utf8))
        sound.move(place, to: ScratchPlace(directory: .root, name: Array("h".utf8)))
        _ = sound.id(at: inside)
        #expect(sound.violations == [])

        #expect(
            ScratchTable(ids: [place: id]).violations == ["a place and its file do not agree"])
        #expect(
            ScratchTable(identities: [HostIdentity(device: 1, inode: 2): id]).violations
                == ["an identity and its file do not agree"])
        #expect(
            ScratchTable(files: [id: .init()]).violations
                == ["a file has no place and is not held"])
        let child = ScratchID(rawValue: 9)
        let broken = ScratchTable(
            files: [id: .init(places: [place]), child: .init(places: [inside])],
            ids: [place: id, inside: child])
        #expect(broken.violations == ["a directory lacks a place"])
    }

    @Test("a local file keeps its first identity")
    func firstIdentity() {
        var table = ScratchTable()
        let id = table.id(at: ScratchPlace(directory: .root, name: Array("f".utf8)))
        table.learn(HostIdentity(device: 1, inode: 2), of: id)
        table.learn(HostIdentity(device: 1, inode: 3), of: id)
        #expect(table.identity(of: id) == HostIdentity(device: 1, inode: 2))
        #expect(table.violations == [])
    }

    @Test("an open record under another file is found")
    func records() {
        let file = RecordFile(record: RecordID(1), incarnation: 0)
        let moment = Timestamp(seconds: 1)
        let open = OpenRecord(
            .init(
                file: file, type: TypeID(1), stem: Stem(bytes: Array("n".utf8)), isInStore: true,
                modified: moment, changed: moment, created: moment))
        var table = OpenRecordTable(.system)
        table.add(open, file, TypeID(1), Stem(bytes: Array("n".utf8)))
        #expect(table.violations == [])
        let other = RecordFile(record: RecordID(2), incarnation: 0)
        open.move(to: other, TypeID(1), Stem(bytes: Array("n".utf8)))
        #expect(table.violations == ["an open record is under another file"])
    }

    @Test("a wrong count of the kept texts is found")
    func texts() throws {
        #expect(PastFiles().violations == [])
        #expect(
            PastFiles(bytes: 1).violations == ["the bytes of past files are counted wrongly"])
        let name = Readings.Name(type: TypeID(1), stem: Stem(bytes: Array("n".utf8)))
        var sound = Readings(table: .system)
        sound.note(text: Array("text".utf8), name, by: 1)
        #expect(sound.violations == [])
        #expect(
            Readings(table: .system, bytes: 1).violations
                == ["the bytes of read texts are counted wrongly"])
        let key = AssetKey(record: RecordID(1), field: FieldName("f"), index: nil)
        var fields = FieldReadings()
        fields.note(1, of: key, by: 1, in: .system)
        #expect(fields.violations == [])
        #expect(
            FieldReadings(readers: [1: .init(versions: [key: 1])]).violations
                == ["a version is never forgotten"])
    }

    @Test("a cached row under another id is found")
    func rows() throws {
        let fixture = try TreeFixture()
        try fixture.put(#"{"a": 1}"#, as: "n.json")
        let entry = try #require(try fixture.record("n"))
        #expect(EntryCache(entries: [entry.id: entry]).violations == [])
        #expect(
            EntryCache(entries: [RecordID(entry.id.rawValue + 1): entry]).violations
                == ["a row is under another id"])
    }

    @Test("a record that waits without files, and a record moved aside twice, are found")
    func assets() {
        var sound = AssetTable()
        sound.keepWaiting(RecordID(1), [])
        #expect(sound.violations == [])
        #expect(
            AssetTable(waiting: [RecordID(1): []]).violations == ["a record without files waits"])
        let aside = MovedFields.Aside(record: RecordID(1), assets: [], end: .seconds(1))
        var moves = MovedFields()
        for id in [1, 2] {
            moves.setAside(
                RecordID(1), [], as: ScratchID(rawValue: UInt64(id)), until: .seconds(1))
        }
        #expect(moves.violations == [])
        let ids = [ScratchID(rawValue: 1), ScratchID(rawValue: 2)]
        #expect(
            MovedFields(asides: [ids[0]: aside, ids[1]: aside]).violations
                == ["a record was moved aside twice"])
    }

    @Test("an empty text that was tried for a share is found")
    func shares() {
        var sound = ShareTable()
        let handle = HandleNumber(rawValue: 1)
        let isNew = sound.noteTry(Array("{}".utf8), by: handle)
        #expect(isNew)
        #expect(sound.violations == [])
        #expect(ShareTable(tried: [handle: []]).violations == ["an empty text was tried"])
    }

    @Test("a directory without touched names is found")
    func touches() {
        var sound = TouchTable()
        let name = Array("n.json".utf8)
        sound.addArrival(name, in: TypeID(1))
        sound.addGhost(name, in: TypeID(1), .root)
        sound.finish(name, in: TypeID(1))
        #expect(sound.violations == [])
        #expect(
            TouchTable(arrivals: [TypeID(1): []]).violations
                == ["a directory without touched names is kept"])
    }

    @Test("a generated file that is open without a handle is found")
    func generated() {
        let content = GeneratedContent([], modified: Timestamp(seconds: 1))
        var sound = GeneratedFiles()
        sound.open(.status, content)
        sound.close(.status)
        #expect(sound.violations == [])
        #expect(
            GeneratedFiles(opened: [.status: (content, 0)]).violations
                == ["a file without handles is open"])
    }

    #if DEBUG
    @Test("each of the first accesses is followed by a check, and later ones sometimes")
    func checks() {
        let counted = CountedState()
        let lock = StateLock(counted)
        for _ in 0..<100 { lock.withLock { _ in } }
        #expect(counted.checks.load(ordering: .relaxed) == 100)
        for _ in 0..<1000 { lock.withLock { _ in } }
        let all = counted.checks.load(ordering: .relaxed)
        #expect(all > 128)
        #expect(all < 200)
    }
    #endif
}

/// A state that counts its checks.
private final class CountedState: CheckedState {
    let checks = Atomic<Int>(0)
    let size = 0
    var violations: [String] {
        checks.add(1, ordering: .relaxed)
        return []
    }
}
