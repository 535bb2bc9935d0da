import RecordModel
import RecordServer
import RecordWire
import Testing

@Suite("Sign-in by password")
struct PasswordSignInTests {
    private func attempt(
        _ signIn: PasswordSignIn, _ house: CredentialHouse, _ email: Text, _ password: String,
        from address: String = "192.0.2.1"
    ) async throws(ServerError) -> UserRow? {
        try await signIn.user(
            emailAddress: email, password: Array(password.utf8), address: address,
            now: house.clock.now)
    }

    private func isThrottled(_ signIn: PasswordSignIn, _ house: CredentialHouse, _ email: String)
        async -> Bool
    {
        do throws(ServerError) {
            _ = try await attempt(signIn, house, Text(email), "guess guess")
            return false
        } catch {
            return error.code == .throttled
        }
    }

    @Test("the e-mail address counts in any case and with spaces around, the password as it is")
    func good() async throws {
        let house = try await CredentialHouse()
        let signIn = PasswordSignIn(storage: house.storage)
        for email in ["alice@example.org", "Alice@Example.ORG", " alice@example.org "] {
            let user = try await attempt(signIn, house, Text(email), "correct horse")
            #expect(user?.name == house.user.name)
        }
        #expect(try await attempt(signIn, house, "alice@example.org", "Correct horse") == nil)
        #expect(try await attempt(signIn, house, "nobody@example.org", "correct horse") == nil)
        _ = try await house.accounts.changeUser("alice@example.org") { $0.isDisabled = true }
        #expect(try await attempt(signIn, house, "alice@example.org", "correct horse") == nil)
    }

    @Test("after ten failures an account is throttled from every address, with the time to wait")
    func account() async throws {
        let house = try await CredentialHouse()
        let signIn = PasswordSignIn(storage: house.storage)
        for index in 0..<10 {
            let user = try await attempt(
                signIn, house, "alice@example.org", "wrong one", from: "192.0.2.\(index)")
            #expect(user == nil)
        }
        let error = await #expect(throws: ServerError.self) {
            try await attempt(
                signIn, house, "alice@example.org", "correct horse", from: "198.51.100.7")
        }
        #expect(error?.code == .throttled)
        #expect(error?.retryAfter == 60)
        house.clock.advance(.seconds(60))
        let user = try await attempt(signIn, house, "alice@example.org", "correct horse")
        #expect(user != nil)
        // The right password forgets the failures.
        for _ in 0..<10 {
            #expect(try await attempt(signIn, house, "alice@example.org", "wrong one") == nil)
        }
    }

    @Test("an address that tries many accounts is throttled, others are not")
    func address() async throws {
        let house = try await CredentialHouse()
        let signIn = PasswordSignIn(storage: house.storage)
        // Known accounts, because their hashes here are quick.
        for index in 0..<4 {
            _ = try await house.accounts.addUser(
                emailAddress: Text("user\(index)@example.org"),
                password: Array("correct horse".utf8), cost: .quick, now: house.clock.now)
        }
        var refused = 0
        for index in 0..<36 where await isThrottled(signIn, house, "user\(index % 4)@example.org") {
            refused += 1
        }
        #expect(refused == 6)
        let other = try await attempt(
            signIn, house, "alice@example.org", "correct horse", from: "198.51.100.7")
        #expect(other != nil)
    }

    @Test("attempts at the same time do not pass the throttle together")
    func together() async throws {
        let house = try await CredentialHouse()
        let signIn = PasswordSignIn(storage: house.storage)
        let now = house.clock.now
        let tried = await countTrue(30) { index in
            do throws(ServerError) {
                _ = try await signIn.user(
                    emailAddress: "alice@example.org", password: Array("wrong one".utf8),
                    address: "192.0.2.\(index)", now: now)
                return true
            } catch {
                return false
            }
        }
        #expect(tried == 10)
    }
}
