import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Server-to-server signatures")
struct SignedRequestTests {
    private let key: SigningKey
    private static let path =
        "/database/1/iCloud.org.example.app/development/public/records/query"
    private static let body = Array(#"{"query":{"recordType":"Note"}}"#.utf8)

    init() throws { key = try SigningKey() }

    /// A house that knows the key, with the clock at 2027-01-15T08:00:00Z.
    private func house() async throws -> (CredentialHouse, Text) {
        let house = try await CredentialHouse()
        let row = try await house.accounts.addServerKey(
            try key.publicPEM, CredentialHouse.container, name: "test",
            user: "alice@example.org", now: house.clock.now)
        return (house, row.keyID)
    }

    private static func text(of date: Int64) -> String {
        ISO8601.print(milliseconds: date * 1000).replacing(".000Z", with: "Z")
    }

    /// What is signed, with an own hash in place of the body's.
    private func sign(
        _ date: String, _ path: String = path, body: [UInt8] = body, hash: String? = nil
    ) throws -> Text {
        let digest = Base64.encode(SHA256.digest(of: body))
        let hash = hash ?? String(decoding: digest, as: UTF8.self)
        let signature = try key.signature(for: Array("\(date):\(hash):\(path)".utf8))
        return Text(utf8: Base64.encode(signature))
    }

    private func refusal(
        _ house: CredentialHouse, _ credentials: RequestCredentials, path: String = path,
        query: String = "", body: [UInt8] = body,
        container: ContainerKey = CredentialHouse.container
    ) async -> ServerErrorCode? {
        do throws(ServerError) {
            let answer = try await house.check(
                credentials, container: container, path: path, query: query, body: body)
            guard case .serverKey(let user, _, false) = answer.caller else { return .internalError }
            return user.name == house.user.name ? nil : .internalError
        } catch {
            return error.code
        }
    }

    @Test("a signed request acts as the user of the key")
    func good() async throws {
        let (house, keyID) = try await house()
        let date = Self.text(of: house.clock.now.seconds)
        let credentials = RequestCredentials(
            keyID: keyID, date: Text(date), signature: try sign(date))
        #expect(await refusal(house, credentials) == nil)
    }

    @Test("a byte that is changed in any part is AUTHENTICATION_FAILED")
    func flips() async throws {
        let (house, keyID) = try await house()
        let date = Self.text(of: house.clock.now.seconds)
        let signature = try sign(date)
        func flipped(_ bytes: [UInt8], _ index: Int) -> [UInt8] {
            var copy = bytes
            copy[index] ^= 1
            return copy
        }
        for index in keyID.utf8.indices {
            let bad = RequestCredentials(
                keyID: Text(utf8: flipped(keyID.utf8, index)), date: Text(date),
                signature: signature)
            #expect(await refusal(house, bad) == .authenticationFailed)
        }
        for index in Array(date.utf8).indices {
            let bad = RequestCredentials(
                keyID: keyID, date: Text(utf8: flipped(Array(date.utf8), index)),
                signature: signature)
            #expect(await refusal(house, bad) == .authenticationFailed)
        }
        for index in signature.utf8.indices {
            let bad = RequestCredentials(
                keyID: keyID, date: Text(date),
                signature: Text(utf8: flipped(signature.utf8, index)))
            #expect(await refusal(house, bad) == .authenticationFailed)
        }
        let good = RequestCredentials(keyID: keyID, date: Text(date), signature: signature)
        for index in Self.body.indices {
            let body = flipped(Self.body, index)
            #expect(await refusal(house, good, body: body) == .authenticationFailed)
        }
        for index in Array(Self.path.utf8).indices {
            let path = String(decoding: flipped(Array(Self.path.utf8), index), as: UTF8.self)
            #expect(await refusal(house, good, path: path) == .authenticationFailed)
        }
        #expect(await refusal(house, good) == nil)
    }

    @Test("the path is signed with or without the query")
    func query() async throws {
        let (house, keyID) = try await house()
        let date = Self.text(of: house.clock.now.seconds)
        for path in [Self.path, Self.path + "?a=1"] {
            let credentials = RequestCredentials(
                keyID: keyID, date: Text(date), signature: try sign(date, path))
            #expect(await refusal(house, credentials, query: "?a=1") == nil)
        }
        let credentials = RequestCredentials(
            keyID: keyID, date: Text(date), signature: try sign(date, Self.path + "?a=1"))
        #expect(await refusal(house, credentials, query: "?a=2") == .authenticationFailed)
    }

    @Test("no body is signed with the hash of nothing or with nothing; a body never with nothing")
    func emptyBody() async throws {
        let (house, keyID) = try await house()
        let date = Self.text(of: house.clock.now.seconds)
        let hashes: [String?] = [nil, ""]
        for hash in hashes {
            let credentials = RequestCredentials(
                keyID: keyID, date: Text(date), signature: try sign(date, body: [], hash: hash))
            #expect(await refusal(house, credentials, body: []) == nil)
            #expect(await refusal(house, credentials) == .authenticationFailed)
        }
    }

    @Test("a signature is good for ten minutes before and after its date, not a second longer")
    func date() async throws {
        let (house, keyID) = try await house()
        let now = house.clock.now.seconds
        let cases: [(Int64, Bool)] = [(-600, true), (600, true), (-601, false), (601, false)]
        for (offset, isGood) in cases {
            let date = Self.text(of: now + offset)
            let credentials = RequestCredentials(
                keyID: keyID, date: Text(date), signature: try sign(date))
            let code = await refusal(house, credentials)
            #expect(code == (isGood ? nil : .authenticationFailed), "\(offset)")
        }
    }

    @Test("a replayed signature is refused after ten minutes")
    func replay() async throws {
        let (house, keyID) = try await house()
        let date = Self.text(of: house.clock.now.seconds)
        let credentials = RequestCredentials(
            keyID: keyID, date: Text(date), signature: try sign(date))
        house.clock.advance(.seconds(600))
        #expect(await refusal(house, credentials) == nil)
        house.clock.advance(.seconds(1))
        #expect(await refusal(house, credentials) == .authenticationFailed)
    }

    @Test("a date in another form than whole seconds of UTC is refused")
    func dateForm() async throws {
        let (house, keyID) = try await house()
        let date = Self.text(of: house.clock.now.seconds)
        let forms = [
            date.replacing("Z", with: ".0Z"), date.replacing("Z", with: "+00:00"),
            date.replacing("Z", with: ""), date.replacing("T", with: " "), "", "now",
            String(house.clock.now.seconds),
        ]
        for form in forms {
            let credentials = RequestCredentials(
                keyID: keyID, date: Text(form), signature: try sign(form))
            #expect(await refusal(house, credentials) == .authenticationFailed, "\(form)")
        }
    }

    @Test("a request with a part of the headers missing is refused")
    func missingParts() async throws {
        let (house, keyID) = try await house()
        let date = Text(Self.text(of: house.clock.now.seconds))
        let signature = try sign(date.string)
        for credentials in [
            RequestCredentials(keyID: keyID), RequestCredentials(date: date),
            RequestCredentials(signature: signature),
            RequestCredentials(keyID: keyID, date: date),
            RequestCredentials(keyID: keyID, signature: signature),
            RequestCredentials(date: date, signature: signature),
        ] {
            #expect(await refusal(house, credentials) == .authenticationFailed)
        }
    }

    @Test("a revoked key, a disabled user and another container are refused at once")
    func revoked() async throws {
        let (house, keyID) = try await house()
        let date = Self.text(of: house.clock.now.seconds)
        let credentials = RequestCredentials(
            keyID: keyID, date: Text(date), signature: try sign(date))
        for environment in [ServerEnvironment.production] {
            let other = ContainerKey(
                container: CredentialHouse.container.container, environment: environment)
            let code = await refusal(house, credentials, container: other)
            #expect(code == .authenticationFailed)
        }
        _ = try await house.accounts.changeUser("alice@example.org") { $0.isDisabled = true }
        #expect(await refusal(house, credentials) == .authenticationFailed)
        _ = try await house.accounts.changeUser("alice@example.org") { $0.isDisabled = false }
        #expect(await refusal(house, credentials) == nil)
        _ = try await house.accounts.revokeServerKey(
            CredentialHouse.container.container, Text(utf8: Array(keyID.utf8.prefix(8))))
        #expect(await refusal(house, credentials) == .authenticationFailed)
    }

    @Test("only a public key on P-256 can be added, and never a private one")
    func keys() async throws {
        let (house, _) = try await house()
        for text in [
            try key.privatePEM, try SigningKey(curve: "secp384r1").publicPEM,
            "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----", "", "x",
        ] {
            let error = await #expect(throws: ServerError.self) {
                try await house.accounts.addServerKey(
                    text, CredentialHouse.container, name: "x", user: "alice@example.org",
                    now: house.clock.now)
            }
            #expect(error?.code == .badRequest)
        }
    }
}
