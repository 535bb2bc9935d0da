import RecordModel
import RecordServerCore
import RecordWire
import TestSupport
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
        let signIn = PasswordSignIn(
            storage: house.storage, throttles: LocalThrottles(), cost: .quick)
        for email in ["alice@example.org", "Alice@Example.ORG", " alice@example.org "] {
            let user = try await attempt(signIn, house, Text(email), "correct horse")
            #expect(user?.name == house.user.name)
        }
        #expect(try await attempt(signIn, house, "alice@example.org", "Correct horse") == nil)
        #expect(try await attempt(signIn, house, "nobody@example.org", "correct horse") == nil)
        _ = try await house.accounts.changeUser("alice@example.org") { $0.isDisabled = true }
        #expect(try await attempt(signIn, house, "alice@example.org", "correct horse") == nil)
    }

    @Test("after ten failures an address has to wait for the account, and its owner elsewhere not")
    func account() async throws {
        let house = try await CredentialHouse()
        let signIn = PasswordSignIn(
            storage: house.storage, throttles: LocalThrottles(), cost: .quick)
        for _ in 0..<10 {
            #expect(try await attempt(signIn, house, "alice@example.org", "wrong one") == nil)
        }
        let error = await #expect(throws: ServerError.self) {
            try await attempt(signIn, house, "alice@example.org", "correct horse")
        }
        #expect(error?.code == .throttled)
        #expect(error?.retryAfter == 60)
        let owner = try await attempt(
            signIn, house, "alice@example.org", "correct horse", from: "198.51.100.7")
        #expect(owner != nil)
        house.clock.advance(.seconds(60))
        let user = try await attempt(signIn, house, "alice@example.org", "correct horse")
        #expect(user != nil)
        // The right password forgets the failures.
        for _ in 0..<10 {
            #expect(try await attempt(signIn, house, "alice@example.org", "wrong one") == nil)
        }
    }

    @Test("200 failures from any addresses slow strangers down for an account, and for no other")
    func manyAddresses() async throws {
        let house = try await CredentialHouse()
        let signIn = PasswordSignIn(
            storage: house.storage, throttles: LocalThrottles(), cost: .quick)
        var refused = 0
        for index in 0..<210 {
            do throws(ServerError) {
                _ = try await attempt(
                    signIn, house, "alice@example.org", "wrong one", from: "192.0.2.\(index)")
            } catch {
                refused += 1
            }
        }
        #expect(refused == 10)
        #expect(
            try await attempt(
                signIn, house, "bob@example.org", "wrong one", from: "192.0.2.1") == nil)
    }

    @Test("the addresses of one network of IPv6 are one client, which has 2^64 of them")
    func network() async throws {
        let house = try await CredentialHouse()
        let signIn = PasswordSignIn(
            storage: house.storage, throttles: LocalThrottles(), cost: .quick)
        for index in 0..<10 {
            _ = try await attempt(
                signIn, house, "alice@example.org", "wrong one", from: "2001:db8::\(index):1")
        }
        let error = await #expect(throws: ServerError.self) {
            try await attempt(
                signIn, house, "alice@example.org", "wrong one", from: "2001:db8::ffff:1")
        }
        #expect(error?.code == .throttled)
        let other = try await attempt(
            signIn, house, "alice@example.org", "correct horse", from: "2001:db8:0:1::1")
        #expect(other != nil)
    }

    @Test("a hash of another cost is made anew when its owner signs in, and by nobody else")
    func rehash() async throws {
        let house = try await CredentialHouse()
        let cost = Password.Cost(rounds: 32, blockSize: 1, parallelism: 1)
        let signIn = PasswordSignIn(
            storage: house.storage, throttles: LocalThrottles(), cost: cost)
        #expect(try await attempt(signIn, house, "alice@example.org", "wrong one") == nil)
        var hashes = [house.user.passwordHash]
        hashes += try await house.accounts.users().map(\.passwordHash)
        #expect(hashes[0] == hashes[1])
        for _ in 0..<2 {
            #expect(
                try await attempt(signIn, house, "alice@example.org", "correct horse") != nil)
            hashes += try await house.accounts.users().map(\.passwordHash)
        }
        #expect(hashes[2].string.hasPrefix("scrypt$32$1$1$"))
        #expect(hashes[2] == hashes[3])
    }

    @Test("an address that tries many accounts is throttled, others are not")
    func address() async throws {
        let house = try await CredentialHouse()
        let signIn = PasswordSignIn(
            storage: house.storage, throttles: LocalThrottles(), cost: .quick)
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
        let signIn = PasswordSignIn(
            storage: house.storage, throttles: LocalThrottles(), cost: .quick)
        let now = house.clock.now
        let tried = await countTrue(30) { index in
            do throws(ServerError) {
                _ = try await signIn.user(
                    emailAddress: "alice@example.org", password: Array("wrong one".utf8),
                    address: "2001:db8::\(index)", now: now)
                return true
            } catch {
                return false
            }
        }
        #expect(tried == 10)
    }
}
