import RecordModel
import RecordStore
import RecordStoreSync
import RecordSync
import ServerTestSupport
import Simulation
import TestSupport
import Testing

@Suite("Assets between machines")
struct AssetExchangeTests {
    private static func bytes(_ count: Int, seed: Int = 0) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: ($0 + seed) &* 31 >> 3) }
    }

    /// All of an asset as somebody reads it: piece by piece.
    private func read(_ replica: Replica, _ name: String) async throws -> [UInt8] {
        let downloads = AssetDownloads(replica.exchange)
        let entry = try #require(try replica.entry(name))
        let asset = try #require(try replica.store.assets.assets(of: entry.id).first)
        var bytes: [UInt8] = []
        while bytes.count < asset.size {
            let part = try await downloads.read(asset, offset: Int64(bytes.count), count: 700)
            #expect(!part.isEmpty)
            bytes += part
        }
        await downloads.stop()
        return bytes
    }

    @Test("of a file that two machines wrote, a conflict has the name and the hash that lost")
    func bothWrite() async throws {
        let server = try await TestServer()
        let (one, other) = (try Replica(server), try Replica(server))
        try one.save("a", #"{"title": "A"}"#)
        try await one.sync()
        try await other.sync()
        try one.attach(Self.bytes(700), to: "a")
        server.clock.advance(.seconds(1))
        try other.attach(Self.bytes(800), to: "a")
        // The first comes while the second sends its own: the server answers with what it has.
        other.wire.plan(.recordsModify, .meanwhile { try await one.exchange.round() })
        try await other.sync()
        let conflict = try #require(try other.conflicts().first)
        let theirs = try #require(try other.store.syncState.text(of: .theirs, in: conflict))
        let lost = SHA256.hash(Self.bytes(700)).hex
        #expect(String(decoding: theirs, as: UTF8.self).contains(lost))
        try await one.sync()
        #expect(try one.tree() == other.tree())
    }

    @Test("a name that is gone on the server waits for no bytes, after its record was renamed here")
    func renamedAfterDeletion() async throws {
        let server = try await TestServer()
        let (one, two) = (try Replica(server), try Replica(server))
        try one.save("a", #"{"title": "A"}"#)
        try one.attach(Self.bytes(5_000), to: "a")
        try await one.sync()
        try await two.sync()
        let text = try #require(try two.text("a"))
        try two.save("a", text.replacing(#""A""#, with: #""B""#))
        try one.delete("a")
        try await one.sync()
        try await server.forgetBytes()
        // The edit wins, and the record would be made anew; its bytes are nowhere.
        try await two.exchange.round()
        try two.save("a", text.replacing(#""A""#, with: #""C""#))
        try two.rename("a", to: "b")
        for _ in 0..<5 { try await two.exchange.round() }
        #expect(try !two.outbox().contains { $0.hasPrefix("delete") })
        try two.expectSound()
    }

    @Test(
        "a file beside a record is sent, listed elsewhere with name and size, and comes when it is read"
    )
    func travels() async throws {
        let server = try await TestServer()
        let (one, two) = (try Replica(server), try Replica(server))
        let photo = Self.bytes(5_000)
        try one.save("a", #"{"title": "A"}"#)
        try one.attach(photo, to: "a")
        try await one.sync()
        #expect(try one.outbox() == [])
        try await two.sync()
        #expect(try two.assets(of: "a") == ["a@photo.jpg": nil])
        #expect(try two.text("a") == one.text("a"))
        let entry = try #require(try two.entry("a"))
        #expect(try two.store.assets.assets(of: entry.id).first?.size == 5_000)
        #expect(try await read(two, "a") == photo)
        #expect(try two.assets(of: "a") == ["a@photo.jpg": photo])
        #expect(try two.outbox() == [])
        try one.expectSound()
        try two.expectSound()
    }

    @Test("an edit of another field sends no bytes, new bytes replace the old ones elsewhere")
    func edits() async throws {
        let server = try await TestServer()
        let (one, two) = (try Replica(server), try Replica(server))
        try one.save("a", #"{"title": "A"}"#)
        try one.attach(Self.bytes(3_000), to: "a")
        try await one.sync()
        #expect(one.wire.uploadedBytes == 3_000)
        try await two.sync()
        let text = try #require(try two.text("a"))
        try two.save("a", text.replacing(#""A""#, with: #""B""#))
        try await two.sync()
        #expect(two.wire.uploadedBytes == 0)
        try await one.sync()
        #expect(try one.text("a")?.contains(#""B""#) == true)
        #expect(try one.assets(of: "a") == ["a@photo.jpg": Self.bytes(3_000)])
        try one.attach(Self.bytes(10, seed: 9), to: "a")
        try await one.sync()
        #expect(one.wire.uploadedBytes == 3_010)
        try await two.sync()
        #expect(try await read(two, "a") == Self.bytes(10, seed: 9))
    }

    @Test("of a list, only the new element is sent")
    func lists() async throws {
        let server = try await TestServer()
        let (one, two) = (try Replica(server), try Replica(server))
        try one.save("a", #"{"title": "A"}"#)
        try one.attach(Self.bytes(100), to: "a", "pages", 0, fileExtension: "png")
        try one.attach(Self.bytes(200), to: "a", "pages", 1, fileExtension: "png")
        try await one.sync()
        #expect(one.wire.uploadedBytes == 300)
        try one.attach(Self.bytes(50), to: "a", "pages", 2, fileExtension: "")
        try await one.sync()
        #expect(one.wire.uploadedBytes == 350)
        try await two.sync()
        #expect(
            try two.assets(of: "a")
                == ["a@pages.0.png": nil, "a@pages.1.png": nil, "a@pages.2": nil])
        #expect(try two.text("a") == one.text("a"))
    }

    @Test("bytes whose record's answer got lost are not sent twice")
    func lostAnswer() async throws {
        let server = try await TestServer()
        let one = try Replica(server)
        try one.save("z", #"{"title": "Z"}"#)
        try await one.sync()
        try one.save("a", #"{"title": "A"}"#)
        try one.attach(Self.bytes(900), to: "a")
        let exchange = one.exchange
        let zone = try #require(try one.store.zone(.private, .me, ZoneName("Box")))
        one.wire.plan(.recordsModify, .requestLost)
        await #expect(throws: SyncProblem.self) {
            try await exchange.work(zone.id, downloads: false, uploads: true)
        }
        try await exchange.work(zone.id, downloads: false, uploads: true)
        #expect(one.wire.uploadedBytes == 900)
        #expect(try one.outbox() == [])
    }

    @Test("what has a file whose bytes nobody has waits for them, and then goes without it")
    func lostBytes() async throws {
        let server = try await TestServer()
        let (one, two) = (try Replica(server), try Replica(server))
        try one.save("b", #"{"title": "B"}"#)
        try one.attach(Self.bytes(400), to: "b")
        try await one.sync()
        try await two.sync()
        // An edit keeps the record, which the first deletes with its bytes.
        let text = try #require(try two.text("b"))
        try two.save("b", text.replacing(#""B""#, with: #""C""#))
        try one.delete("b")
        try await one.sync()
        try await server.forgetBytes()
        try await two.sync()
        #expect(
            try two.outbox() == [
                "create b? The bytes of photo are not on this machine, and no record of the server has "
                    + "them. They are looked for again. Write the file again, or give the change up"
            ])
        try await one.sync()
        #expect(try one.names() == [])
        // Each time behind what the server tells.
        for _ in 0..<3 { try await two.exchange.round() }
        try await one.sync()
        #expect(try two.outbox() == [] && two.assets(of: "b").isEmpty)
        #expect(try two.conflicts().map(\.fields).contains([FieldName("photo")]))
        #expect(try one.tree() == ["b": #"{"title":"C"}"#])
        #expect(try one.files() == two.files())
    }

    @Test("a record that is renamed where its file was never read keeps it everywhere")
    func renamedUnread() async throws {
        let server = try await TestServer()
        let (one, two) = (try Replica(server), try Replica(server))
        try one.save("a", #"{"title": "A"}"#)
        try one.attach(Self.bytes(400), to: "a")
        try await one.sync()
        try await two.sync()
        try two.rename("a", to: "b")
        try await two.sync()
        #expect(try two.outbox() == [])
        #expect(two.wire.uploadedBytes == 0)
        try await one.sync()
        #expect(try one.names() == ["b"])
        #expect(try one.assets(of: "b") == ["b@photo.jpg": Self.bytes(400)])
        #expect(try await read(two, "b") == Self.bytes(400))
    }

    @Test(
        "a file that is moved to another record or field, and was never read, keeps its bytes",
        arguments: [("b", "photo"), ("b", "other"), ("a", "other")])
    func movedUnread(record: String, field: String) async throws {
        let server = try await TestServer()
        let one = try Replica(server)
        let two = try Replica(server) { $0.claims.records = 1 }
        for name in ["a", "b"] { try one.save(name, #"{"title": "A"}"#) }
        try one.attach(Self.bytes(400), to: "a")
        try await one.sync()
        try await two.sync()
        // What loses it is sent first, by itself.
        try two.save("a", #"{"title": "B", "photo": {"$asset": "a@photo.jpg"}}"#)
        let (from, to) = (
            try #require(try two.entry("a")), try #require(try two.entry(record))
        )
        let asset = try #require(try two.store.assets.assets(of: from.id).first)
        #expect(!asset.isDownloaded)
        try two.store.write(author: .mount) { transaction throws(RecordError) in
            guard let hash = asset.hash else { return }
            _ = try transaction.assets.setAsset(
                to.id, FieldName(field), nil, hash, size: asset.size,
                fileExtension: asset.fileExtension)
            try transaction.assets.removeAsset(from.id, asset.field, nil)
        }
        for _ in 0..<3 { try await two.sync() }
        #expect(try two.outbox() == [])
        #expect(two.wire.uploadedBytes == 0)
        try await one.sync()
        #expect(
            try one.assets(of: record) == ["\(record)@\(field).jpg": Self.bytes(400)])
        let moved = try #require(try two.store.assets.assets(of: to.id).first)
        #expect(try await read(two, record) == Self.bytes(400), "\(moved.fileName)")
    }

    @Test("bytes that are damaged here are not sent: the record waits and says why")
    func damaged() async throws {
        let server = try await TestServer()
        let one = try Replica(server)
        try one.save("a", #"{"title": "A"}"#)
        try one.attach(Self.bytes(400), to: "a")
        let entry = try #require(try one.entry("a"))
        let hash = try #require(try one.store.assets.assets(of: entry.id).first?.hash)
        try Replica.overwrite(one.store.assets.assetPath(hash))
        try await one.sync()
        let parked = try #require(try one.store.syncState.outbox(limit: 10).first)
        #expect(parked.error?.contains("was changed") == true, "\(parked.error ?? "")")
        #expect(one.wire.uploadedBytes == 0)
    }

    @Test("a text that names a file without its hash is the same elsewhere, and the bytes come")
    func withoutHash() async throws {
        let server = try await TestServer()
        let (one, two) = (try Replica(server), try Replica(server))
        let text = #"{"photo":{"$asset":"a@photo.jpg"},"title":"A"}"#
        try one.save("a", text)
        try one.attach(Self.bytes(5_000), to: "a")
        for replica in [one, two] { try await replica.sync() }
        #expect(try two.file("a") == text)
        let entry = try #require(try two.entry("a"))
        #expect(try two.store.assets.assets(of: entry.id).first?.size == 5_000)
        #expect(try await read(two, "a") == Self.bytes(5_000))
        // Edits there are sent, and new bytes under the same text, on both sides at once.
        let edited = text.replacing(#""A""#, with: #""B""#)
        try two.save("a", edited)
        try one.attach(Self.bytes(30, seed: 4), to: "a")
        for replica in [two, one, two, one] { try await replica.sync() }
        for replica in [one, two] {
            #expect(try replica.outbox() == [])
            #expect(try replica.text("a")?.contains(#""title":"B""#) == true)
            #expect(try await read(replica, "a") == Self.bytes(30, seed: 4))
            try replica.expectSound()
        }
        #expect(try one.file("a") == two.file("a"))
        #expect(try one.conflicts() == [] && two.conflicts() == [])
        try one.attach(Self.bytes(20, seed: 7), to: "a")
        for replica in [one, two] { try await replica.sync() }
        #expect(try await read(two, "a") == Self.bytes(20, seed: 7))
        #expect(try one.file("a") == two.file("a"))
    }

    @Test("a text with two spaces that names a file without its hash stays so")
    func printedWithoutHash() async throws {
        let server = try await TestServer()
        let (one, two) = (try Replica(server), try Replica(server))
        try one.save("a", #"{"title":"A"}"#)
        try one.attach(Self.bytes(50), to: "a")
        let text = "{\n  \"photo\": {\n    \"$asset\": \"a@photo.jpg\"\n  }\n}\n"
        try one.save("a", text)
        for replica in [one, two, one, two] { try await replica.sync() }
        for replica in [one, two] {
            #expect(try replica.file("a") == text)
            #expect(try replica.outbox() == [])
        }
        #expect(try await read(two, "a") == Self.bytes(50))
    }
}
