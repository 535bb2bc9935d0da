package import RecordModel
package import RecordWire

extension Accounts {
    /// Makes an API token. Returns the token itself, to be shown once, and its row.
    ///
    /// `callbackURL` is the URL that sign-in returns to. `http://127.0.0.1` stands for any port and
    /// path there, for programs without a server. Nil stands for `window.postMessage`.
    ///
    /// Errors: `badRequest` for a bad URL or origin, `notFound` for an unknown container.
    package func createAPIToken(
        _ container: ContainerKey, name: Text, callbackURL: Text? = nil,
        allowedOrigins: [Text] = [], now: Timestamp
    ) async throws(ServerError) -> (token: Text, row: APITokenRow) {
        let (token, row) = try Self.newAPIToken(
            container, name: name, callbackURL: callbackURL, allowedOrigins: allowedOrigins,
            now: now)
        try await storage.write { (transaction) throws(ServerError) in
            try transaction.requireContainer(container.container)
            try transaction.putAPIToken(row)
        }
        return (token, row)
    }

    /// Makes an API token that is not stored yet. Errors: `badRequest` for a bad URL or origin.
    package static func newAPIToken(
        _ container: ContainerKey, name: Text, callbackURL: Text?, allowedOrigins: [Text] = [],
        now: Timestamp
    ) throws(ServerError) -> (token: Text, row: APITokenRow) {
        if let callbackURL, CallbackURL(callbackURL) == nil {
            throw ServerError(
                .badRequest,
                "A callback URL is https://..., http://127.0.0.1 or a scheme of an app; "
                    + "without a fragment and in ASCII.")
        }
        for origin in allowedOrigins where !CallbackURL.isOrigin(origin) {
            throw ServerError(
                .badRequest, "An origin is scheme, host and port, such as https://example.org.")
        }
        let token = Secret.make()
        let row = APITokenRow(
            hash: Secret.hash(token), container: container, name: name, callbackURL: callbackURL,
            allowedOrigins: allowedOrigins, createdMilliseconds: now.nanoseconds / 1_000_000)
        return (token, row)
    }

    package func apiTokens(_ container: Text) async throws(ServerError) -> [APITokenRow] {
        try await storage.read { (reader) throws(ServerError) in try reader.apiTokens(container) }
    }

    /// Revokes an API token. `identifier` is the beginning of its hash, at least 8 digits. Errors:
    /// `notFound` for none, `badRequest` for several.
    package func revokeAPIToken(_ container: Text, _ identifier: Text) async throws(ServerError)
        -> APITokenRow
    {
        try await storage.write { (transaction) throws(ServerError) in
            var row = try Self.apiToken(container, identifier, transaction)
            row.isRevoked = true
            try transaction.putAPIToken(row)
            return row
        }
    }

    package static func apiToken(
        _ container: Text, _ identifier: Text, _ reader: any StorageReader
    ) throws(ServerError) -> APITokenRow {
        try only(
            try reader.apiTokens(container).filter { $0.hash.isAbbreviated(by: identifier) },
            "API token")
    }

    /// Adds a server-to-server key. `publicKey` is the text that `openssl ec -pubout` prints.
    ///
    /// Errors: `badRequest` for anything except a public key on P-256, and for a key that is to
    /// manage the schema for a user who is no administrator; `exists` for a known key; `notFound`
    /// for an unknown container or user.
    package func addServerKey(
        _ publicKey: Text, _ container: ContainerKey, name: Text, user: Text,
        managesSchema: Bool = false, now: Timestamp
    ) async throws(ServerError) -> ServerKeyRow {
        guard !publicKey.string.contains("PRIVATE KEY") else {
            throw ServerError(
                .badRequest,
                "This is a private key: keep it, and add what `openssl ec -pubout` makes of it.")
        }
        guard let pem = SigningPublicKey(pem: publicKey)?.pem else {
            throw ServerError(
                .badRequest, "This is no public key on the curve prime256v1 in PEM form.")
        }
        let keyID = Secret.make()
        return try await storage.write { (transaction) throws(ServerError) in
            try transaction.requireContainer(container.container)
            let user = try transaction.findUser(user)
            let known = try transaction.serverKeys(container.container).first {
                $0.container == container && $0.publicKeyPEM == pem && !$0.isRevoked
            }
            if let known {
                throw ServerError(
                    .exists,
                    "This public key is there already, with the id \(known.keyID). Revoke that, or make "
                        + "another pair of keys.")
            }
            let row = ServerKeyRow(
                keyID: keyID, container: container, publicKeyPEM: pem,
                name: name, user: user.name, createdMilliseconds: now.nanoseconds / 1_000_000)
            try transaction.putServerKey(row)
            guard managesSchema else { return row }
            guard user.isAdministrator else {
                throw ServerError(
                    .badRequest, "Only the key of an administrator can manage the schema.")
            }
            try transaction.putSetting(ServerSetting.managesSchema(keyID: keyID), [1])
            return row
        }
    }

    package func serverKeys(_ container: Text) async throws(ServerError) -> [ServerKeyRow] {
        try await storage.read { (reader) throws(ServerError) in try reader.serverKeys(container) }
    }

    /// Returns the keys of the container that manage its schema.
    package func schemaKeys(_ container: Text) async throws(ServerError) -> Set<Text> {
        try await storage.read { (reader) throws(ServerError) in
            var keys: Set<Text> = []
            for key in try reader.serverKeys(container) where try reader.managesSchema(key) {
                keys.insert(key.keyID)
            }
            return keys
        }
    }

    /// Revokes a key by its key ID or the beginning of it, at least 8 digits. Errors: `notFound`
    /// for none, `badRequest` for several.
    package func revokeServerKey(_ container: Text, _ identifier: Text) async throws(ServerError)
        -> ServerKeyRow
    {
        try await storage.write { (transaction) throws(ServerError) in
            var row = try Self.only(
                try transaction.serverKeys(container).filter {
                    $0.keyID.isAbbreviated(by: identifier)
                }, "key")
            row.isRevoked = true
            try transaction.putServerKey(row)
            return row
        }
    }

    private static func only<Row>(_ rows: [Row], _ kind: String) throws(ServerError) -> Row {
        guard let row = rows.first else {
            throw ServerError(.notFound, "There is no such \(kind) in this container.")
        }
        guard rows.count == 1 else {
            throw ServerError(.badRequest, "More than one \(kind) begins so: give more digits.")
        }
        return row
    }
}

extension SettingReader {
    fileprivate func requireContainer(_ name: Text) throws(ServerError) {
        guard try containers().contains(name) else {
            throw ServerError(.notFound, "There is no such container on this server.")
        }
    }
}

extension Text {
    /// Returns whether this begins with `beginning`, which has 8 digits or more.
    fileprivate func isAbbreviated(by beginning: Text) -> Bool {
        beginning.utf8.count >= 8 && utf8.starts(with: beginning.utf8)
    }
}
