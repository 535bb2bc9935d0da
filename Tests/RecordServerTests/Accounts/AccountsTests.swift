import RecordModel
import RecordServerCore
import RecordWire
import TestSupport
import Testing

@Suite("Accounts")
struct AccountsTests {
    @Test("two users cannot have one e-mail address, in whatever case")
    func uniqueAddress() async throws {
        let house = try await CredentialHouse()
        let error = await #expect(throws: ServerError.self) {
            try await house.accounts.addUser(
                emailAddress: "ALICE@example.org", password: Array("correct horse".utf8),
                cost: .quick, now: house.clock.now)
        }
        #expect(error?.code == .exists)
    }

    @Test(
        "what is no e-mail address is refused",
        arguments: ["", "alice", "@example.org", "alice@", "a@b@c", "a b@example.org", "a@b\n"])
    func addresses(_ address: String) async throws {
        let house = try await CredentialHouse()
        let error = await #expect(throws: ServerError.self) {
            try await house.accounts.addUser(
                emailAddress: Text(address), password: Array("correct horse".utf8), cost: .quick,
                now: house.clock.now)
        }
        #expect(error?.code == .badRequest)
    }

    @Test("a record name is an underscore and 32 digits, and finds its user")
    func recordName() async throws {
        let house = try await CredentialHouse()
        let name = Text(utf8: house.user.name.bytes)
        #expect(name.utf8.count == 33)
        #expect(name.string.hasPrefix("_"))
        let user = try await house.accounts.changeUser(name) { $0.quotaBytes = 5 }
        #expect(user.emailAddress == "alice@example.org")
        #expect(try await house.accounts.users().map(\.quotaBytes) == [5])
        await #expect(throws: ServerError.self) {
            try await house.accounts.changeUser("_nobody") { _ in }
        }
    }

    @Test("nobody ends a session of somebody else")
    func sessions() async throws {
        let house = try await CredentialHouse()
        let token = try await house.signIn()
        let id = try #require(try await house.accounts.sessions(of: "alice@example.org").first?.id)
        let error = await #expect(throws: ServerError.self) {
            try await house.accounts.revokeSession(id, of: UserName("_somebody"))
        }
        #expect(error?.code == .notFound)
        #expect(await house.refusal(token) == nil)
        try await house.accounts.revokeSession(id, of: house.user.name)
        #expect(await house.refusal(token) == .authenticationRequired)
    }

    @Test("an abbreviation of less than 8 digits revokes nothing")
    func abbreviation() async throws {
        let house = try await CredentialHouse()
        let id = Text(utf8: Array(Secret.hash(house.apiToken).utf8.prefix(7)))
        let error = await #expect(throws: ServerError.self) {
            try await house.accounts.revokeAPIToken(CredentialHouse.container.container, id)
        }
        #expect(error?.code == .notFound)
    }
}
