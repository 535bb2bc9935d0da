import RecordModel
import RecordServerCore
import RecordWire
import TestSupport
import Testing

@Suite("API tokens")
struct APITokenTests {
    private func refusal(
        _ house: CredentialHouse, _ credentials: RequestCredentials,
        container: ContainerKey = CredentialHouse.container
    ) async -> ServerError? {
        do throws(ServerError) {
            _ = try await house.check(credentials, container: container)
            return nil
        } catch {
            return error
        }
    }

    @Test("without a good API token everything is AUTHENTICATION_FAILED, with no way to sign in")
    func missing() async throws {
        let house = try await CredentialHouse()
        let webAuthToken = try await house.signIn()
        var flipped = house.apiToken.utf8
        flipped[10] = flipped[10] == 0x30 ? 0x31 : 0x30
        let longer = house.apiToken.string + "0"
        let bad: [Text?] = [
            nil, Text(""), Text("x"), Text(utf8: flipped), Text(longer),
            Secret.hash(house.apiToken),
        ]
        for token in bad {
            let webTokens: [Text?] = [nil, webAuthToken]
            for web in webTokens {
                let error = await refusal(
                    house, RequestCredentials(apiToken: token, webAuthToken: web))
                #expect(error?.code == .authenticationFailed)
                #expect(error?.code.httpStatus == 401)
                #expect(error?.redirectURL == nil)
            }
        }
    }

    @Test("an API token is good in its container and environment only")
    func bound() async throws {
        let house = try await CredentialHouse()
        let credentials = RequestCredentials(apiToken: house.apiToken)
        #expect(await refusal(house, credentials) == nil)
        for other in [
            ContainerKey(container: "iCloud.org.example.app", environment: .production),
            ContainerKey(container: "iCloud.org.example.App", environment: .development),
            ContainerKey(container: "", environment: .development),
        ] {
            #expect(
                await refusal(house, credentials, container: other)?.code == .authenticationFailed)
        }
    }

    @Test("a revoked API token is refused from the next request on")
    func revoked() async throws {
        let house = try await CredentialHouse()
        let credentials = RequestCredentials(apiToken: house.apiToken)
        #expect(await refusal(house, credentials) == nil)
        let id = Text(utf8: Array(Secret.hash(house.apiToken).utf8.prefix(16)))
        _ = try await house.accounts.revokeAPIToken(CredentialHouse.container.container, id)
        #expect(await refusal(house, credentials)?.code == .authenticationFailed)
    }

    @Test("where an API token has allowed origins, a browser of another origin is refused")
    func origins() async throws {
        let house = try await CredentialHouse()
        let token = try await house.accounts.createAPIToken(
            CredentialHouse.container, name: "web",
            allowedOrigins: ["https://app.example.org", "http://localhost:3000"],
            now: house.clock.now
        ).token
        func code(_ origin: Text?) async -> ServerErrorCode? {
            await refusal(house, RequestCredentials(apiToken: token, origin: origin))?.code
        }
        #expect(await code("https://app.example.org") == nil)
        #expect(await code("http://localhost:3000") == nil)
        #expect(await code(nil) == nil)
        for origin in [
            "https://evil.example", "null", "https://app.example.org.evil.example",
            "http://app.example.org", "https://app.example.org:444", "",
        ] {
            #expect(await code(Text(origin)) == .authenticationFailed, "\(origin)")
        }
    }

    @Test("an API token is stored as its hash, so that a backup holds none")
    func storedHashed() async throws {
        let house = try await CredentialHouse()
        #expect(Secret.hash(house.apiToken) != house.apiToken)
        let rows = try await house.accounts.apiTokens(CredentialHouse.container.container)
        #expect(rows.map(\.hash) == [Secret.hash(house.apiToken)])
        #expect(house.apiToken.utf8.count == 64)
    }

    @Test("API token and signature together are refused")
    func mixed() async throws {
        let house = try await CredentialHouse()
        let token = try await house.signIn()
        for credentials in [
            RequestCredentials(apiToken: house.apiToken, keyID: "k"),
            RequestCredentials(apiToken: house.apiToken, date: "2026-11-20T10:00:00Z"),
            RequestCredentials(apiToken: house.apiToken, webAuthToken: token, signature: "s"),
        ] {
            #expect(await refusal(house, credentials)?.code == .authenticationFailed)
        }
    }

    @Test("a container, a callback URL or an origin that is none is refused")
    func creation() async throws {
        let house = try await CredentialHouse()
        let now = house.clock.now
        await #expect(throws: ServerError.self) {
            try await house.accounts.createAPIToken(
                ContainerKey(container: "iCloud.org.example.none", environment: .development),
                name: "x", now: now)
        }
        await #expect(throws: ServerError.self) {
            try await house.accounts.createAPIToken(
                CredentialHouse.container, name: "x", callbackURL: "javascript:alert(1)", now: now)
        }
        for origin in ["*", "https://example.org/", "example.org", "https://*.example.org"] {
            await #expect(throws: ServerError.self) {
                try await house.accounts.createAPIToken(
                    CredentialHouse.container, name: "x", allowedOrigins: [Text(origin)], now: now)
            }
        }
        for name in ["example", "iCloud.", "iCloud.a/b", "iCloud.a b", "icloud.a", ""] {
            await #expect(throws: ServerError.self) {
                try await house.accounts.createContainer(Text(name))
            }
        }
    }
}
