import Foundation
import RecordModel
import RecordServerCore
import RecordStore
import RecordSync
import RecordWire
import ServerTestSupport
import Simulation
import Synchronization
import TestSupport
import Testing

/// What a machine knows of invitations, of what it has not accepted.
@Suite("Known invitations") struct InvitationTests {
    private let server: TestServer
    private let bob: Replica
    private let heard = Heard()

    /// What observers of the store were told.
    private final class Heard: Sendable {
        private let news = Mutex<[ShareNews]>([])

        func note(_ changes: [StoreChange]) {
            news.withLock { $0 += changes.flatMap(\.shareNews) }
        }

        func take() -> [ShareNews] {
            news.withLock { news in
                defer { news = [] }
                return news
            }
        }
    }

    init() async throws {
        server = try await TestServer()
        let alice = try Replica(server)
        let owner = OwnerName(bytes: TestServer.Person.alice.user?.bytes ?? [])
        bob = try Replica(server, as: .bob, in: .shared, of: owner)
        try alice.save("x", #"{"p":1}"#)
        try await alice.sync()
        bob.store.observe { [heard] in heard.note($0) }
    }

    /// Saves the share of the zone, with Bob invited or with nobody.
    @discardableResult
    private func share(
        _ operation: String, isInvited: Bool = true, title: JSONValue = "Plans"
    ) async throws -> Text {
        let nobody = JSONMember(key: "participants", value: [])
        let answer = try await server.modifyShare(
            operation, of: nil,
            [
                isInvited ? TestServer.invitation(ofBob: "READ_WRITE") : nobody,
                TestServer.title(title),
            ])
        return try #require(answer.json.at("records.0.shortGUID").string, "\(answer.text)")
    }

    @Test("an invitation is known after a round and told once, until it is accepted")
    func life() async throws {
        let guid = try await share("create")
        try await bob.sync()
        let invitation = try #require(try bob.store.sharing.invitations().first)
        #expect(try bob.store.sharing.invitations().count == 1)
        #expect(invitation.id == guid && invitation.link.contains("/share/\(guid)#Plans"))
        #expect(invitation.title == "Plans" && invitation.owner == "alice@example.org")
        #expect(
            invitation.json.object?.map(\.key) == [
                "url", "title", "owner", "permission", "status", "since",
            ])
        #expect(invitation.json["permission"] == "READ_WRITE")
        #expect(heard.take() == [ShareNews(invited: invitation)])
        #expect(try bob.store.zones(in: .shared) == [])
        try await bob.sync()
        #expect(heard.take() == [])
        // Another title is no other invitation.
        try await share("forceUpdate", title: "Other plans")
        try await bob.sync()
        #expect(heard.take() == [])
        #expect(try bob.store.sharing.invitations().map(\.title) == ["Other plans"])
        _ = try await server.call(
            .recordsAccept, .public, as: .bob, ["shortGUIDs": [["value": .string(guid)]]])
        try await bob.sync()
        #expect(try bob.store.sharing.invitations() == [])
        #expect(heard.take() == [])
        #expect(try bob.store.zones(in: .shared).count == 1)
    }

    @Test("one that is taken back leaves nothing on the disk, and made again is told again")
    func withdrawn() async throws {
        let word = "Whisper-\(UUID().uuidString)"
        try await share("create", title: JSONValue(word))
        try await bob.sync()
        #expect(try holds(word))
        #expect(heard.take().count == 1)
        try await share("forceUpdate", isInvited: false)
        try await bob.sync()
        #expect(try bob.store.sharing.invitations() == [])
        try await bob.sync()
        #expect(try !holds(word))
        #expect(heard.take() == [])
        try await share("forceUpdate")
        try await bob.sync()
        #expect(heard.take().map(\.kind) == [.invited])
    }

    /// Whether the word is anywhere below the state directory.
    private func holds(_ word: String) throws -> Bool {
        let root = URL(fileURLWithPath: bob.store.directory)
        let files = FileManager.default.enumerator(
            at: root, includingPropertiesForKeys: [.isRegularFileKey])
        for case let file as URL in try #require(files) {
            guard try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true
            else { continue }
            if try Data(contentsOf: file).range(of: Data(word.utf8)) != nil { return true }
        }
        return false
    }
}
