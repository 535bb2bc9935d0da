import Foundation
import RecordModel
import RecordStore
import RecordStoreSync
import RecordTree
import TestSupport
import Testing

/// A record with a large field is renamed, by any of those who can, while somebody has the field's file open.
@Suite("Large fields that are open while their record is renamed")
struct OpenMovedFieldTests {
    enum Mover: CaseIterable, Sendable { case mount, command, otherMachine }

    private let fixture: TreeFixture

    init() throws {
        fixture = try TreeFixture()
        fixture.observe()
        try fixture.put("{}", as: "n.json")
        try fixture.put("photo", as: "n@photo.jpg")
        try fixture.send()
    }

    private func rename(by mover: Mover) throws {
        let record = try #require(try fixture.record("n"))
        switch mover {
        case .mount: try fixture.rename("n.json", to: "u.json")
        case .command:
            _ = try fixture.store.write(author: .commandLine) { transaction throws(RecordError) in
                try transaction.records.rename(record.id, toType: record.type, stem: Stem("u"))
            }
        case .otherMachine:
            let asset = try #require(try fixture.store.assets.assets(of: record.id).first)
            let value = AssetValue(
                fileName: Text("u@photo.jpg"), size: asset.size, sha256: asset.hash)
            let zone = try #require(try fixture.store.zone(.private, .me, ZoneName("Box")))
            let change = RemoteChange(
                deleted: RecordName("n"),
                movedTo: RecordAddress(
                    zone: zone.name, type: RecordTypeName("Note"), name: RecordName("u")))
            try fixture.receive(
                .upsert([RecordField(name: FieldName("photo"), value: .asset(value))], parent: nil),
                name: "u")
            try fixture.store.write(author: .sync) { transaction throws(RecordError) in
                _ = try transaction.feed.applyRemote(change, in: zone.id)
            }
        }
    }

    private func outlastGrace() throws {
        fixture.clock.advance(.seconds(4))
        try fixture.maintain()
    }

    @Test(
        "what is written then is in the file of the new name",
        arguments: Mover.allCases, [O_WRONLY | O_TRUNC, O_RDWR, O_WRONLY | O_APPEND])
    func written(by mover: Mover, flags: Int32) throws {
        for isFinal in [false, true] {
            let test = try Self()
            try test.write(by: mover, flags, isFinal)
        }
    }

    private func write(by mover: Mover, _ flags: Int32, _ isFinal: Bool) throws {
        let handle = try fixture.openNew("n@photo.jpg", flags: flags)
        try fixture.write("PH", to: handle)
        try rename(by: mover)
        if isFinal { try outlastGrace() }
        try fixture.write("OTO", to: handle, at: 2)
        try fixture.tree.flush(handle)
        fixture.tree.release(handle)
        try outlastGrace()
        let bytes = flags & O_APPEND == 0 ? "PHOTO" : "photoPHOTO"
        #expect(try fixture.text("u@photo.jpg") == bytes)
        #expect(try fixture.names() == ["u.json", "u@photo.jpg"])
        let zone = try #require(try fixture.store.zone(.private, .me, ZoneName("Box"))).id
        #expect(try fixture.store.syncState.conflicts(in: zone).isEmpty)
    }

    /// A tester: close answered 0, and the bytes waited under the old name, on one machine.
    @Test("what is written then is in the file of the other type", arguments: [false, true])
    func otherType(isFinal: Bool) throws {
        let base = try #require(
            try fixture.tree.lookup(parent: .root, name: "private".b, caller: TreeFixture.user))
        let box = try #require(try fixture.lookup("Box", in: base.node)).node
        let other = try fixture.tree.makeDirectory(parent: box, name: "Other".b, mode: 0o755).node
        let handle = try fixture.openNew("n@photo.jpg", flags: O_RDWR)
        try fixture.write("PH", to: handle)
        try fixture.tree.rename(
            parent: fixture.notes, name: "n.json".b, newParent: other, newName: "n.json".b,
            flags: 0)
        if isFinal { try outlastGrace() }
        try fixture.write("OTO", to: handle, at: 2)
        try fixture.tree.flush(handle)
        fixture.tree.release(handle)
        try outlastGrace()
        #expect(try fixture.names() == [])
        #expect(try fixture.names(in: other) == ["n.json", "n@photo.jpg"])
        let file = try #require(try fixture.lookup("n@photo.jpg", in: other)).node
        let reader = try fixture.tree.open(file, flags: O_RDONLY, caller: TreeFixture.user).handle
        #expect(try fixture.read(reader) == "PHOTO")
        fixture.tree.release(reader)
    }

    /// A tester, 16 of 16.
    @Test(
        "what is written between two renames and after them is in the last file", arguments: [0, 4])
    func thereAndBack(wait: Int) throws {
        let handle = try fixture.openNew("n@photo.jpg", flags: O_WRONLY | O_APPEND)
        for (number, (from, to)) in [("n", "u"), ("u", "n"), ("n", "w")].enumerated() {
            try fixture.rename("\(from).json", to: "\(to).json")
            fixture.clock.advance(.seconds(wait))
            try fixture.maintain()
            try fixture.write(" \(number)", to: handle)
            try fixture.tree.flush(handle)
        }
        fixture.tree.release(handle)
        #expect(try fixture.text("w@photo.jpg") == "photo 0 1 2")
        try outlastGrace()
        #expect(try fixture.text("w@photo.jpg") == "photo 0 1 2")
        #expect(try fixture.names() == ["w.json", "w@photo.jpg"])
    }

    @Test("who reads goes on reading", arguments: Mover.allCases)
    func read(by mover: Mover) throws {
        let handle = try fixture.openNew("n@photo.jpg", flags: O_RDONLY)
        try rename(by: mover)
        #expect(try fixture.read(handle) == "photo")
        try outlastGrace()
        #expect(try fixture.read(handle) == "photo")
        try fixture.put("other", as: "u@photo.jpg")
        #expect(try fixture.read(handle) == "other", "it is the same file")
        fixture.tree.release(handle)
        #expect(try fixture.names() == ["u.json", "u@photo.jpg"])
    }

    @Test("a file that somebody has open and that a tool renames itself is that one")
    func renamedByTool() throws {
        let handle = try fixture.openNew("n@photo.jpg", flags: O_RDWR)
        try rename(by: .mount)
        try fixture.rename("n@photo.jpg", to: "u@photo.jpg")
        try fixture.write("PHOTO", to: handle)
        try fixture.tree.flush(handle)
        fixture.tree.release(handle)
        try outlastGrace()
        #expect(try fixture.text("u@photo.jpg") == "PHOTO")
        #expect(try fixture.names() == ["u.json", "u@photo.jpg"])
    }
}
