import RecordModel
import RecordServerCore
import RecordWire
import Testing

@Suite("Storage: accounts") struct StorageAccountTests {
    typealias Sample = StorageSample

    private func user(_ name: UserName, _ emailAddress: Text) -> UserRow {
        UserRow(
            name: name, emailAddress: emailAddress, phoneNumber: nil, givenName: "Given",
            familyName: "Family", passwordHash: "hash", createdMilliseconds: 1)
    }

    @Test(
        "a user is found by name, address and number, and replaced by name",
        arguments: StorageSubject.all)
    func users(subject: StorageSubject) async throws {
        let storage = try subject.open()
        var row = user(Sample.alice, "z@example.org")
        row.phoneNumber = "+49"
        let (first, other) = (row, user(Sample.bob, "b@example.org"))
        try await storage.write { (transaction) throws(ServerError) in
            try transaction.putUser(first)
            try transaction.putUser(other)
        }
        row.emailAddress = "a@example.org"
        row.isAdministrator = true
        row.isDisabled = true
        row.isDiscoverable = false
        row.quotaBytes = 5
        row.passwordHash = "other"
        let second = row
        let (found, all) = try await storage.write { (transaction) throws(ServerError) in
            try transaction.putUser(second)
            return (
                [
                    try transaction.user(Sample.alice),
                    try transaction.user(emailAddress: "a@example.org"),
                    try transaction.user(phoneNumber: "+49"),
                    try transaction.user(emailAddress: "z@example.org"),
                    try transaction.user(phoneNumber: "+1"), try transaction.user(Sample.carol),
                ], try transaction.users()
            )
        }
        #expect(found == [row, row, row, nil, nil, nil])
        #expect(all == [row, other])
    }

    @Test("two users cannot have one address", arguments: StorageSubject.all)
    func address(subject: StorageSubject) async throws {
        let storage = try subject.open()
        let rows = [Sample.alice, Sample.bob].map { user($0, "a@example.org") }
        try await storage.write { (transaction) throws(ServerError) in
            try transaction.putUser(rows[0])
        }
        let error = await #expect(throws: ServerError.self) {
            try await storage.write { (transaction) throws(ServerError) in
                try transaction.putUser(rows[1])
            }
        }
        #expect(error?.code == .exists)
        let all = try await storage.read { (reader) throws(ServerError) in try reader.users() }
        #expect(all == [rows[0]])
    }

    @Test(
        "API tokens and keys come back, and are listed by container", arguments: StorageSubject.all)
    func credentials(subject: StorageSubject) async throws {
        let storage = try subject.open()
        var token = APITokenRow(
            hash: "h", container: Sample.container, name: "web", callbackURL: "https://x",
            allowedOrigins: ["https://a", "https://b"], createdMilliseconds: 2)
        token.isRevoked = true
        let plain = APITokenRow(
            hash: "i", container: Sample.production, name: "", createdMilliseconds: 1)
        var key = ServerKeyRow(
            keyID: "k", container: Sample.container, publicKeyPEM: "pem", name: "ci",
            user: Sample.bob, createdMilliseconds: 3)
        key.isRevoked = true
        let (tokenRow, keyRow) = (token, key)
        let name = Sample.container.container
        let (tokens, keys) = try await storage.write { (transaction) throws(ServerError) in
            try transaction.putAPIToken(tokenRow)
            try transaction.putAPIToken(plain)
            try transaction.putServerKey(keyRow)
            return (
                [
                    try transaction.apiToken(hash: "h"), try transaction.apiToken(hash: "x"),
                ] + (try transaction.apiTokens(name)),
                [
                    try transaction.serverKey("k"), try transaction.serverKey("x"),
                ] + (try transaction.serverKeys(name)) + (try transaction.serverKeys("none"))
            )
        }
        #expect(tokens == [token, nil, plain, token])
        #expect(keys == [key, nil, key])
    }

    @Test("sessions change, are listed by user, and expire", arguments: StorageSubject.all)
    func sessions(subject: StorageSubject) async throws {
        let storage = try subject.open()
        @Sendable func session(_ id: Text, _ expires: Int64) -> SessionRow {
            SessionRow(
                id: id, user: Sample.alice, container: Sample.production,
                createdMilliseconds: 1, expiresMilliseconds: expires, label: "Firefox")
        }
        var row = session("a", 10)
        let (first, other) = (row, session("b", 20))
        try await storage.write { (transaction) throws(ServerError) in
            try transaction.putSession(first)
            try transaction.putSession(other)
        }
        row.generation = 7
        row.generationMilliseconds = 8
        row.expiresMilliseconds = 15
        row.isRevoked = true
        let second = row
        let (one, all) = try await storage.write { (transaction) throws(ServerError) in
            try transaction.putSession(second)
            return (try transaction.session("a"), try transaction.sessions(Sample.alice))
        }
        #expect(one == row)
        #expect(all == [row, other])
        let rest = try await storage.write { (transaction) throws(ServerError) in
            try transaction.removeSessions(expiredBefore: 20)
            return try transaction.sessions(Sample.alice)
        }
        #expect(rest == [other])
    }
}
