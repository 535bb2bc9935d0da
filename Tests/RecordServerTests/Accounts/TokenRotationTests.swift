import RecordModel
import RecordServerCore
import RecordWire
import TestSupport
import Testing

@Suite("Used web auth tokens")
struct TokenRotationTests {
    @Test("the token before is good for the grace time after its successor was first shown")
    func grace() async throws {
        let house = try await CredentialHouse()
        let first = try await house.signIn()
        let second = try #require(try await house.check(first).successorToken)
        // As long as nobody shows the successor, its answer may have been lost.
        house.clock.advance(.seconds(600))
        #expect(await house.refusal(first) == nil)
        #expect(await house.refusal(second) == nil)
        house.clock.advance(.seconds(120))
        #expect(await house.refusal(first) == nil)
        house.clock.advance(.milliseconds(1))
        #expect(await house.refusal(first) == .authenticationRequired)
        #expect(await house.refusal(second) == nil)
    }

    @Test("requests at the same time with one token are all good")
    func together() async throws {
        let house = try await CredentialHouse()
        let token = try await house.signIn()
        let good = await countTrue(20) { _ in await house.refusal(token) == nil }
        #expect(good == 20)
    }

    @Test("a token many successors old is good in the grace time and not after it")
    func olderTokens() async throws {
        let house = try await CredentialHouse()
        let first = try await house.signIn()
        var token = first
        for _ in 0..<500 {
            token = try #require(try await house.check(token).successorToken)
            house.clock.advance(.milliseconds(200))
        }
        #expect(await house.refusal(first) == nil)
        for _ in 0..<200 {
            token = try #require(try await house.check(token).successorToken)
            house.clock.advance(.milliseconds(200))
        }
        #expect(await house.refusal(first) == .authenticationRequired)
        #expect(await house.refusal(token) == nil)
    }

    @Test("strict: each token is good for one request, also when two come at the same time")
    func strict() async throws {
        let house = try await CredentialHouse { $0.graceSeconds = 0 }
        let first = try await house.signIn()
        let second = try #require(try await house.check(first).successorToken)
        #expect(await house.refusal(first) == .authenticationRequired)
        #expect(await house.refusal(first, by: house.restarted()) == .authenticationRequired)
        let good = await countTrue(10) { _ in await house.refusal(second) == nil }
        #expect(good == 1)
    }

    @Test("a restart changes nothing about which tokens are in their grace time")
    func restart() async throws {
        let house = try await CredentialHouse()
        var tokens = [try await house.signIn()]
        for _ in 0..<7 {
            tokens.append(
                try #require(try await house.check(tokens[tokens.count - 1]).successorToken))
            house.clock.advance(.seconds(10))
        }
        try await house.authenticator.flush(now: house.clock.now)
        let restarted = house.restarted()
        for token in tokens { #expect(await house.refusal(token, by: restarted) == nil) }
        // The successor of the first was shown 60 seconds ago, that of the second 50.
        house.clock.advance(.seconds(65))
        try await restarted.flush(now: house.clock.now)
        let again = house.restarted()
        #expect(await house.refusal(tokens[0], by: again) == .authenticationRequired)
        #expect(await house.refusal(tokens[1], by: again) == nil)
        house.clock.advance(.seconds(121))
        #expect(await house.refusal(tokens[6], by: again) == .authenticationRequired)
        #expect(await house.refusal(tokens[7], by: again) == nil)
    }

    @Test("a token that was not written down before a crash is good")
    func crash() async throws {
        let house = try await CredentialHouse()
        let first = try await house.signIn()
        var token = first
        for _ in 0..<5 { token = try #require(try await house.check(token).successorToken) }
        #expect(await house.refusal(token, by: house.restarted()) == nil)
    }

    @Test("what another process of the server wrote down counts here")
    func otherProcess() async throws {
        let house = try await CredentialHouse()
        let other = house.restarted()
        let first = try await house.signIn()
        let second = try #require(try await house.check(first).successorToken)
        let third = try #require(try await house.check(second, by: other).successorToken)
        _ = try await house.check(third, by: other)
        try await other.flush(now: house.clock.now)
        house.clock.advance(.seconds(121))
        #expect(await house.refusal(first) == .authenticationRequired)
        #expect(await house.refusal(second) == .authenticationRequired)
        #expect(await house.refusal(third) == nil)
    }

    @Test("writing down the use of tokens leaves what else is stored of the session")
    func flush() async throws {
        let house = try await CredentialHouse()
        let first = try await house.signIn()
        let second = try #require(try await house.check(first).successorToken)
        _ = try await house.check(second)
        try await house.authenticator.flush(now: house.clock.now)
        let sessions = try await house.accounts.sessions(of: "alice@example.org")
        #expect(sessions.map(\.generation) == [2])
        #expect(sessions.map(\.label) == ["test"])
    }
}
