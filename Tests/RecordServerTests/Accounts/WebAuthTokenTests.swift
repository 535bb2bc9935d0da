import RecordModel
import RecordServerCore
import RecordWire
import TestSupport
import Testing

@Suite("Web auth tokens")
struct WebAuthTokenTests {
    @Test("a token names its user, and each answer carries a new one that is good too")
    func rotation() async throws {
        let house = try await CredentialHouse()
        var token = try await house.signIn()
        for _ in 0..<5 {
            let answer = try await house.check(token)
            #expect(answer.caller.user?.name == house.user.name)
            let successor = try #require(answer.successorToken)
            #expect(successor != token)
            token = successor
        }
    }

    @Test("an API token alone is nobody, and says where to sign in")
    func anonymous() async throws {
        let house = try await CredentialHouse()
        let answer = try await house.check(nil)
        #expect(answer.caller == .anonymous)
        #expect(answer.successorToken == nil)
        let prefix = "https://records.example.org/sign-in?request="
        #expect(answer.signInURL?.hasPrefix(prefix) == true)
    }

    @Test("a bit that is changed in any byte makes a token bad")
    func bitFlips() async throws {
        let house = try await CredentialHouse()
        let token = try await house.signIn()
        for index in token.utf8.indices {
            for bit in 0..<8 {
                var bytes = token.utf8
                bytes[index] ^= 1 << UInt8(bit)
                #expect(
                    await house.refusal(Text(utf8: bytes)) == .authenticationRequired,
                    "byte \(index), bit \(bit)")
            }
        }
        #expect(await house.refusal(token) == nil)
    }

    @Test(
        "what is no token is refused with AUTHENTICATION_REQUIRED and a redirectURL",
        arguments: ["", "x", "AAAA", "null", "=", "alg:none"])
    func rubbish(_ text: String) async throws {
        let house = try await CredentialHouse()
        let error = await #expect(throws: ServerError.self) { try await house.check(Text(text)) }
        #expect(error?.code == .authenticationRequired)
        #expect(error?.code.httpStatus == 421)
        #expect(error?.redirectURL?.hasPrefix("https://records.example.org/sign-in?") == true)
    }

    @Test("a token is good for 30 minutes without use and no millisecond longer")
    func shortLife() async throws {
        let house = try await CredentialHouse()
        let token = try await house.signIn()
        house.clock.advance(.seconds(1800))
        #expect(await house.refusal(token) == nil)
        house.clock.advance(.milliseconds(1))
        #expect(await house.refusal(token) == .authenticationRequired)
    }

    @Test("use makes a sign-in last, up to its longest time")
    func slidingLife() async throws {
        let house = try await CredentialHouse { $0.maximumSessionSeconds = 3600 }
        var token = try await house.signIn()
        for _ in 0..<3 {
            house.clock.advance(.seconds(1200))
            token = try #require(try await house.check(token).successorToken)
        }
        house.clock.advance(.seconds(1))
        #expect(await house.refusal(token) == .authenticationRequired)
    }

    @Test("who stays signed in has two weeks without use")
    func longLife() async throws {
        let house = try await CredentialHouse()
        let token = try await house.signIn(staySignedIn: true)
        house.clock.advance(.seconds(14 * 86_400))
        #expect(await house.refusal(token) == nil)
        house.clock.advance(.seconds(1))
        #expect(await house.refusal(token) == .authenticationRequired)
    }

    @Test("a token from the future is refused, one from a minute ahead is not")
    func future() async throws {
        let house = try await CredentialHouse()
        house.clock.advance(.seconds(60))
        let near = try await house.signIn()
        house.clock.advance(.milliseconds(1))
        let far = try await house.signIn()
        house.clock.advance(.milliseconds(-60_001))
        #expect(await house.refusal(near) == nil)
        #expect(await house.refusal(far) == .authenticationRequired)
    }

    @Test("a revoked session is refused from the next request on")
    func revoked() async throws {
        let house = try await CredentialHouse()
        let token = try await house.signIn()
        let successor = try #require(try await house.check(token).successorToken)
        try await house.changeSession { $0.isRevoked = true }
        #expect(await house.refusal(token) == .authenticationRequired)
        #expect(await house.refusal(successor) == .authenticationRequired)
        // Writing down its use does not bring it back.
        try await house.authenticator.flush(now: house.clock.now)
        #expect(await house.refusal(successor) == .authenticationRequired)
    }

    @Test("a disabled user is refused at once, and stays signed out when enabled again")
    func disabled() async throws {
        let house = try await CredentialHouse()
        let token = try await house.signIn()
        _ = try await house.accounts.changeUser("alice@example.org") { $0.isDisabled = true }
        #expect(await house.refusal(token) == .authenticationRequired)
        _ = try await house.accounts.changeUser("alice@example.org", endsSessions: true) {
            $0.isDisabled = false
        }
        #expect(await house.refusal(token) == .authenticationRequired)
    }

    @Test("a token of another container or environment is refused")
    func otherContainer() async throws {
        let house = try await CredentialHouse()
        let token = try await house.signIn()
        let others = [
            ContainerKey(container: "iCloud.org.example.app", environment: .production),
            ContainerKey(container: "iCloud.org.example.other", environment: .development),
        ]
        for other in others {
            try await house.accounts.createContainer(other.container)
            let apiToken = try await house.accounts.createAPIToken(
                other, name: "other", now: house.clock.now
            ).token
            let error = await #expect(throws: ServerError.self) {
                try await house.check(token, apiToken: apiToken, container: other)
            }
            #expect(error?.code == .authenticationRequired)
        }
    }

    @Test("a new password ends all sign-ins")
    func newPassword() async throws {
        let house = try await CredentialHouse()
        let token = try await house.signIn()
        _ = try await house.accounts.setPassword(
            of: "alice@example.org", to: Array("another one".utf8), cost: .quick)
        #expect(await house.refusal(token) == .authenticationRequired)
    }

    @Test("the seal of another server is refused")
    func otherServer() async throws {
        let house = try await CredentialHouse()
        let token = try await house.signIn()
        let other = Authenticator(
            storage: house.storage, seal: Seal(key: [UInt8](repeating: 4, count: 32)),
            settings: house.settings)
        #expect(await house.refusal(token, by: other) == .authenticationRequired)
    }
}
