import Foundation
import RecordModel
import RecordStore
import RecordTree
import TestSupport
import Testing

/// Programs that read a large field's file and save it later, while another machine changes it in between.
@Suite("What programs have read of a large field, when they save")
struct FieldReadingTests {
    enum Way: CaseIterable, Sendable {
        case inPlace, temporaryFile, removed, setAside, exchange

        func save(_ bytes: String, _ fixture: TreeFixture, by thread: Int32 = 1) throws {
            let caller = Requester(threadID: thread)
            switch self {
            case .inPlace: try fixture.put(bytes, as: "n@photo.jpg", by: caller)
            case .temporaryFile, .exchange:
                try fixture.put(bytes, as: "n@photo.jpg.tmp", by: caller)
                try fixture.rename(
                    "n@photo.jpg.tmp", to: "n@photo.jpg", flags: self == .exchange ? 2 : 0,
                    by: Requester(threadID: 99))
            case .removed:
                try fixture.remove("n@photo.jpg")
                try fixture.put(bytes, as: "n@photo.jpg", by: caller)
            case .setAside:
                try fixture.rename("n@photo.jpg", to: "n@photo.jpg~", by: caller)
                try fixture.put(bytes, as: "n@photo.jpg", by: caller)
            }
        }
    }

    private let fixture: TreeFixture

    init() throws {
        fixture = try TreeFixture()
        fixture.observe()
        let other = Requester(threadID: 5)
        for (name, bytes) in [("n", "old"), ("theirs", "theirs")] {
            try fixture.put("{}", as: "\(name).json", by: other)
            try fixture.put(bytes, as: "\(name)@photo.jpg", by: other)
        }
        try fixture.send()
    }

    private func receive() throws {
        let record = try #require(try fixture.record("theirs"))
        let asset = try #require(try fixture.store.assets.assets(of: record.id).first)
        let value = AssetValue(
            fileName: Text("n@photo.jpg"), size: asset.size, sha256: asset.hash)
        try fixture.receive(
            .upsert([RecordField(name: FieldName("photo"), value: .asset(value))], parent: nil),
            name: "n")
    }

    private func read(by thread: Int32 = 1) throws {
        _ = try fixture.text("n@photo.jpg", by: Requester(threadID: thread))
    }

    private var conflicts: [Conflict] {
        get throws {
            let zone = try #require(try fixture.store.zone(.private, .me, ZoneName("Box"))).id
            return try fixture.store.syncState.conflicts(in: zone)
        }
    }

    private func expectConflict(_ bytes: String) throws {
        #expect(try fixture.text("n@photo.jpg", by: Requester(threadID: 50)) == bytes)
        let conflict = try #require(try conflicts.first)
        #expect(try conflicts.count == 1)
        #expect(conflict.fields == [FieldName("photo")])
        let texts = try Conflict.Side.allCases.map { side in
            try String(
                decoding: #require(try fixture.store.syncState.text(of: side, in: conflict)),
                as: UTF8.self)
        }
        #expect(Set(texts).count == 3, "\(texts)")
        _ = try fixture.store.write(author: .mount) { transaction throws(RecordError) in
            try transaction.merging.settle(conflict.id, .side(.theirs))
        }
        #expect(try fixture.text("n@photo.jpg") == "theirs")
        #expect(try conflicts.isEmpty)
    }

    @Test(
        "of a file that both have changed the program's bytes stay, and a conflict has both",
        arguments: Way.allCases)
    func conflict(way: Way) throws {
        try read()
        try receive()
        try way.save("mine", fixture)
        try expectConflict("mine")
        try way.save("mine again", fixture)
        #expect(try conflicts.isEmpty, "what it has saved is what it goes on with")
    }

    @Test("who has read what came replaces it", arguments: Way.allCases)
    func seen(way: Way) throws {
        try read()
        try receive()
        try read()
        try way.save("mine", fixture)
        #expect(try conflicts.isEmpty)
    }

    @Test("a program that has not read the file replaces it", arguments: Way.allCases)
    func unread(way: Way) throws {
        try read()
        try receive()
        try way.save("mine", fixture, by: 7)
        #expect(try conflicts.isEmpty)
    }

    @Test(
        "what another program has saved here is replaced, as on any file system",
        arguments: Way.allCases)
    func otherProgram(way: Way) throws {
        try read()
        try receive()
        try way.save("of 7", fixture, by: 7)
        try way.save("mine", fixture)
        #expect(try conflicts.isEmpty)
    }

    @Test("the same bytes from both sides are no conflict", arguments: Way.allCases)
    func same(way: Way) throws {
        try read()
        try receive()
        try way.save("theirs", fixture)
        #expect(try conflicts.isEmpty)
    }

    @Test(
        "what comes while the file is being written is a conflict",
        arguments: [O_WRONLY | O_TRUNC, O_RDWR, O_WRONLY])
    func cameWhileWritten(flags: Int32) throws {
        let handle = try fixture.openNew("n@photo.jpg", flags: flags)
        try receive()
        try fixture.write("mine", to: handle)
        try fixture.tree.flush(handle)
        fixture.tree.release(handle)
        try expectConflict("mine")
    }

    /// The server's bytes were never on this machine.
    @Test("what came is taken back from the server, where it was not read")
    func takenFromServer() throws {
        try read()
        try fixture.receiveRemoteAsset(name: "n", field: "photo", size: 5)
        try Way.inPlace.save("mine", fixture)
        let conflict = try #require(try conflicts.first)
        _ = try fixture.store.write(author: .mount) { transaction throws(RecordError) in
            try transaction.merging.settle(conflict.id, .side(.theirs))
        }
        let record = try #require(try fixture.record("n"))
        let asset = try #require(try fixture.store.assets.assets(of: record.id).first)
        #expect(asset.hash == ContentHash(hex: String(repeating: "ab", count: 32)))
        #expect(!asset.isDownloaded)
    }

    @Test("another element of a list is another file")
    func listElement() throws {
        let files = ["0": "a", "1": "b"]
        for (index, bytes) in files.sorted(by: { $0.key < $1.key }) {
            try fixture.put(bytes, as: "n@pics.\(index).jpg", by: Requester(threadID: 5))
        }
        try fixture.send()
        _ = try fixture.text("n@pics.1.jpg")
        let record = try #require(try fixture.record("n"))
        let theirs = try #require(try fixture.record("theirs"))
        let other = try #require(try fixture.store.assets.assets(of: theirs.id).first)
        let values = try fixture.store.assets.assets(of: record.id).filter { $0.index != nil }.map {
            asset in
            let file = asset.index == 0 ? other : asset
            return FieldValue.asset(
                AssetValue(
                    fileName: Text(utf8: asset.fileName), size: file.size, sha256: file.hash))
        }
        let photo = try #require(
            try fixture.store.assets.asset(record.id, FieldName("photo"), nil))
        try fixture.receive(
            .upsert(
                [
                    RecordField(
                        name: FieldName("photo"),
                        value: .asset(
                            AssetValue(
                                fileName: Text(utf8: photo.fileName), size: photo.size,
                                sha256: photo.hash))),
                    RecordField(name: FieldName("pics"), value: .list(values)),
                ], parent: nil), name: "n")
        try fixture.put("B", as: "n@pics.1.jpg")
        #expect(try conflicts.isEmpty)
        #expect(try fixture.text("n@pics.0.jpg") == "theirs")
        #expect(try fixture.text("n@pics.1.jpg") == "B")
    }

    @Test("programs that read very many files are known for the last of them, others stay known")
    func bounds() throws {
        try read()
        for number in 0..<100 {
            let caller = Requester(threadID: 7)
            try fixture.put("{}", as: "m\(number).json", by: caller)
            try fixture.put("m", as: "m\(number)@photo.jpg", by: caller)
            _ = try fixture.text("m\(number)@photo.jpg", by: caller)
        }
        try receive()
        try Way.inPlace.save("mine", fixture)
        try expectConflict("mine")
    }

    @Test("a file that a program reads again and again stays known, whatever else it reads")
    func readAgain() throws {
        try read()
        for number in 0..<100 {
            let caller = Requester(threadID: 1)
            try fixture.put("{}", as: "m\(number).json", by: caller)
            try fixture.put("m", as: "m\(number)@photo.jpg", by: caller)
            _ = try fixture.text("m\(number)@photo.jpg", by: caller)
            if number % 20 == 0 { try read() }
        }
        try receive()
        try Way.inPlace.save("mine", fixture)
        try expectConflict("mine")
    }
}
