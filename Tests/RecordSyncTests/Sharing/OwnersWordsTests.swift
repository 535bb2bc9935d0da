import Foundation
import RecordModel
import RecordStore
import RecordSync
import RecordWire
import ServerTestSupport
import Simulation
import Synchronization
import TestSupport
import Testing

/// What Bob keeps of what Alice shared with him, when she shares it no longer: what he has written himself,
/// and none of her words, wherever he has put them.
@Suite struct OwnersWordsTests {
    private let server: TestServer
    private let alice: Replica
    private let bob: Replica
    private let news: News

    /// What Bob is told.
    private final class News: Sendable {
        private let list = Mutex<[ShareNews]>([])
        func add(_ changes: [StoreChange]) {
            list.withLock { $0 += changes.flatMap(\.shareNews) }
        }
        func count(_ kind: ShareNews.Kind) -> Int {
            list.withLock { list in
                list.filter { $0.kind == kind }.reduce(0) { $0 + $1.count }
            }
        }
    }

    private static let words = "nobody else has written this sentence"

    init() async throws {
        server = try await TestServer()
        alice = try Replica(server)
        let owner = OwnerName(bytes: TestServer.Person.alice.user?.bytes ?? [])
        bob = try Replica(server, as: .bob, in: .shared, of: owner) { $0.pageRecords = 1 }
        let news = News()
        self.news = news
        bob.store.observe { news.add($0) }
        try alice.save("a", #"{"p":1}"#)
        try alice.save("b", #"{"$parent":"a","n":7,"text":"\#(Self.words)"}"#)
        try alice.save("other", #"{"p":2}"#)
        try await alice.sync()
    }

    /// What ends: the share of the zone, the only one of a hierarchy, or one of two.
    enum Ended: CaseIterable {
        case zone, hierarchy, oneOfTwo
        var root: String? { self == .zone ? nil : "a" }
    }

    private func share(_ ended: Ended) async throws {
        if ended == .oneOfTwo { try await server.share("other", in: "Box") }
        try await server.share(ended.root, in: "Box")
        try await bob.sync()
    }

    private func end(_ ended: Ended) async throws {
        try await server.endShare(of: ended.root, in: "Box")
        try await bob.sync()
        try await bob.sync()
        #expect(try bob.names() == (ended == .oneOfTwo ? ["other"] : []))
    }

    private func trash() throws -> Set<String> {
        Set(
            try bob.store.past.zones(in: .shared, with: .trash).flatMap { zone in
                try bob.store.past.trash(in: zone.id).compactMap { entry in
                    try bob.store.past.trashed(entry.id).map {
                        String(decoding: $0.text, as: UTF8.self)
                            .filter { !$0.isWhitespace }
                    }
                }
            })
    }

    /// None of the files of Bob's store has the words.
    private func expectNoWords(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let directory = bob.store.directory
        for path in try FileManager.default.subpathsOfDirectory(atPath: directory) {
            guard let bytes = FileManager.default.contents(atPath: "\(directory)/\(path)") else {
                continue
            }
            #expect(
                bytes.range(of: Data(Self.words.utf8)) == nil, "\(path)",
                sourceLocation: sourceLocation)
        }
        try bob.expectSound()
    }

    private func draft(_ name: String, _ text: String) throws {
        let zone = try #require(try bob.zone("Box"))
        let type = try #require(try bob.store.type(zone.id, RecordTypeName("Note")))
        _ = try bob.store.write(author: .mount) { transaction throws(RecordError) in
            try transaction.records.saveDraft(
                text: Array(text.utf8), type: type.id, stem: Stem(name),
                error: RecordError(.invalidJSON, "no"))
        }
    }

    @Test("a record that was renamed goes with what it was", arguments: Ended.allCases)
    func renamed(_ ended: Ended) async throws {
        try await share(ended)
        try bob.rename("b", to: "c")
        try bob.rename("c", to: "d")
        try await end(ended)
        #expect(try trash() == [])
        #expect(news.count(.unsent) == 0)
        try expectNoWords()
    }

    @Test("what its owner has written into a record that was renamed meanwhile goes with it")
    func renamedAndEditedByItsOwner() async throws {
        try await share(.hierarchy)
        try bob.rename("b", to: "c")
        try alice.save("b", #"{"$parent":"a","n":7,"text":"x","later":"\#(Self.words)"}"#)
        try await alice.sync()
        // The new name cannot be sent any more: it is nowhere but here.
        _ = try await server.modifyShare(
            "forceUpdate", of: "a", [TestServer.invitation(ofBob: "READ_ONLY")])
        try await bob.sync()
        #expect(try bob.text("c")?.contains(Self.words) == true)
        try await end(.hierarchy)
        #expect(try trash() == [])
        try expectNoWords()
    }

    @Test("of a renamed record that was edited the edit stays", arguments: Ended.allCases)
    func renamedAndEdited(_ ended: Ended) async throws {
        try await share(ended)
        try bob.rename("b", to: "c")
        try bob.save("c", #"{"$parent":"a","n":7,"text":"\#(Self.words)","q":"mine"}"#)
        try await end(ended)
        #expect(try trash() == [#"{"q":"mine"}"#])
        #expect(news.count(.unsent) == 1)
        try expectNoWords()
    }

    @Test("of an edited record that was renamed then the edit stays", arguments: Ended.allCases)
    func editedAndRenamed(_ ended: Ended) async throws {
        try await share(ended)
        try bob.save("b", #"{"$parent":"a","n":8,"text":"\#(Self.words)","q":"mine"}"#)
        try bob.rename("b", to: "c")
        try await end(ended)
        #expect(try trash() == [#"{"n":8,"q":"mine"}"#])
        try expectNoWords()
    }

    @Test("of a copy that was edited the edit stays", arguments: Ended.allCases)
    func copied(_ ended: Ended) async throws {
        try await share(ended)
        try bob.save("copy", #"{"$parent":"a","text":"\#(Self.words)","q":"mine"}"#)
        try await end(ended)
        #expect(try trash() == [#"{"q":"mine"}"#])
        try expectNoWords()
    }

    @Test("a large field goes with the record that it was renamed with", arguments: Ended.allCases)
    func largeField(_ ended: Ended) async throws {
        try alice.attach(Array(Self.words.utf8), to: "b")
        try await alice.sync()
        try await share(ended)
        let entry = try #require(try bob.entry("b"))
        let downloads = AssetDownloads(bob.exchange)
        for asset in try bob.store.assets.assets(of: entry.id) { try await downloads.bring(asset) }
        await downloads.stop()
        try bob.rename("b", to: "c")
        try await end(ended)
        #expect(try trash() == [])
        try expectNoWords()
    }

    @Test(
        "of a draft over a record, and of one of no record, what is his stays",
        arguments: Ended.allCases)
    func drafts(_ ended: Ended) async throws {
        try await share(ended)
        try draft("b", "{\"text\": \"\(Self.words)\",\n\"q\": \"mine\",\n")
        try draft("new", "{\"text\": \"\(Self.words)\", \"r\": \"his\"")
        try await end(ended)
        let kept = try trash()
        #expect(kept.contains { $0.contains(#""q":"mine""#) })
        #expect(kept.contains { $0.contains(#""r":"his""#) })
        #expect(news.count(.unsent) == 2)
        try expectNoWords()
    }

    @Test("a draft that is JSON keeps the members that are his", arguments: Ended.allCases)
    func draftOfMembers(_ ended: Ended) async throws {
        try await share(ended)
        try draft("b", #"{"$parent":"a","n":7,"text":"\#(Self.words)","q":"mine"}"#)
        try await end(ended)
        #expect(try trash() == [#"{"q":"mine"}"#])
        try expectNoWords()
    }

    @Test("what is taken out of a hierarchy that stays shared is told to who had edited it")
    func takenOut() async throws {
        try await share(.hierarchy)
        try bob.save("b", #"{"$parent":"a","n":7,"text":"\#(Self.words)","q":"mine"}"#)
        try alice.save("b", #"{"n":7,"text":"\#(Self.words)"}"#)
        try await alice.sync()
        try await bob.sync()
        #expect(try bob.names() == ["a"])
        #expect(try trash() == [#"{"q":"mine"}"#])
        #expect(news.count(.unsent) == 1)
        #expect(try bob.store.sharing.ownTrashCount() == 1)
    }

    @Test(
        "what is removed below a share that is being left is sent when it is not left, and never else"
    )
    func removedWhileLeaving() async throws {
        try await share(.zone)
        let zone = try #require(try bob.zone("Box"))
        func setEnding(_ isEnding: Bool) throws {
            try bob.store.write(author: .mount) { transaction throws(RecordError) in
                try transaction.sharing.setEnding(isEnding, shareOf: nil, in: zone.id)
            }
        }
        try setEnding(true)
        try bob.delete("b")
        try await bob.sync()
        try await alice.sync()
        #expect(try Set(alice.names()) == ["a", "b", "other"])
        try setEnding(false)
        try await bob.sync()
        try await alice.sync()
        #expect(try Set(alice.names()) == ["a", "other"])
    }

    @Test("who deletes a root with what hangs on it leaves, and deletes nothing")
    func rootDeletedLast() async throws {
        for name in ["c", "d", "e"] { try alice.save(name, #"{"$parent":"a","p":1}"#) }
        try await alice.sync()
        try await share(.hierarchy)
        for name in ["c", "d", "e", "b", "a"] { try bob.delete(name) }
        try await bob.sync()
        try await bob.sync()
        #expect(try bob.names() == [])
        try await alice.sync()
        #expect(try Set(alice.names()) == ["a", "b", "c", "d", "e", "other"])
    }

    @Test("the owner who deletes a shared root ends the share; what hung on it is his, and is told")
    func ownerDeletesRoot() async throws {
        try await share(.hierarchy)
        #expect(try Set(bob.names()) == ["a", "b"])
        try alice.delete("a")
        try await alice.sync()
        try await alice.sync()
        #expect(try Set(alice.names()) == ["b", "other"])
        #expect(try alice.outbox() == [])
        let zone = try #require(try alice.zone("Box"))
        #expect(try alice.store.syncState.conflicts(in: zone.id).isEmpty)
        #expect(try alice.store.sharing.shares(in: zone.id).isEmpty)
        let told = try alice.store.sharing.unsharedRecords(since: Timestamp(seconds: 0))
        #expect(
            told.map(\.children) == [[RecordName("b")]] && told.map(\.root) == [RecordName("a")])
        try await bob.sync()
        #expect(try bob.names() == [])
        try expectNoWords()
        // It comes back with what hangs on it, and is shared with nobody.
        try alice.save("a", #"{"p":2}"#)
        try await alice.sync()
        try await bob.sync()
        #expect(try bob.names() == [])
        #expect(try alice.text("b")?.contains(#""$parent":"a""#) == true)
        try await server.share("a", in: "Box")
        try await bob.sync()
        #expect(try Set(bob.names()) == ["a", "b"])
    }
}
