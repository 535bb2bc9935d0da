package import RecordModel
package import RecordWire

/// A request that is signed with a server-to-server key (CloudKit Web Services Reference, Composing
/// Web Service Requests).
///
/// The signed text is `date:base64(sha256(body)):path`. Clients differ in two details, and both
/// ways are valid: the path with or without the query, and for an empty body the hash of nothing or
/// no hash.
struct SignedRequest: Sendable {
    let credentials: RequestCredentials
    let paths: [String]
    let body: [UInt8]

    /// The messages, one of which must be signed.
    var messages: [[UInt8]] {
        guard let date = credentials.date else { return [] }
        let hash = Base64.encode(SHA256.digest(of: body))
        let hashes = body.isEmpty ? [hash, []] : [hash]
        let distinct = paths.enumerated().filter { paths.firstIndex(of: $0.element) == $0.offset }
        return distinct.flatMap { path in
            hashes.map { date.utf8 + [UInt8(ascii: ":")] + $0 + Array(":\(path.element)".utf8) }
        }
    }

    /// Returns whether the request's date, in whole seconds of UTC, is within this time of now, in
    /// either direction.
    func isInTime(at milliseconds: Int64, within seconds: Int64) -> Bool {
        // The date looks like 2026-11-20T10:00:00Z.
        guard let date = credentials.date, date.utf8.count == 20,
            date.utf8.last == UInt8(ascii: "Z"), let signed = ISO8601.parse(date.utf8)
        else { return false }
        return abs(milliseconds - signed) <= seconds * 1000
    }

    /// Returns whether the signature, base64 of DER, is a signature of this request by the owner of
    /// the key.
    func isSigned(by publicKeyPEM: Text) -> Bool {
        guard let encoded = credentials.signature, let der = Base64.decode(encoded.utf8),
            let key = SigningPublicKey(pem: publicKeyPEM)
        else { return false }
        return messages.contains { key.verifies(der, of: $0) }
    }
}

extension Authenticator {
    private static let failed = ServerError(
        .authenticationFailed, "The signature of the request is not good.")

    /// Checks a signed request before its body is read: that its key exists, and its date.
    package func requireKey(
        of credentials: RequestCredentials, container: ContainerKey, now: Timestamp
    ) async throws(ServerError) {
        let request = SignedRequest(credentials: credentials, paths: [], body: [])
        _ = try await key(of: request, container: container, at: now.nanoseconds / 1_000_000)
    }

    /// Returns the caller of the request. Every mistake gets the same answer, so that it does not
    /// reveal which keys exist.
    func verify(_ request: SignedRequest, container: ContainerKey, at milliseconds: Int64)
        async throws(ServerError) -> Caller
    {
        let known = try await key(of: request, container: container, at: milliseconds)
        guard request.isSigned(by: known.key.publicKeyPEM) else { throw Self.failed }
        return .serverKey(
            known.user, keyID: known.key.keyID, managesSchema: known.managesSchema)
    }

    private struct KnownKey: Sendable {
        let key: ServerKeyRow
        let user: UserRow
        let managesSchema: Bool
    }

    private func key(
        of request: SignedRequest, container: ContainerKey, at milliseconds: Int64
    ) async throws(ServerError) -> KnownKey {
        let credentials = request.credentials
        guard credentials.apiToken == nil, credentials.webAuthToken == nil,
            let keyID = credentials.keyID,
            request.isInTime(at: milliseconds, within: settings.signedRequestSeconds)
        else { throw Self.failed }
        let found = try await storage.read {
            (reader) throws(ServerError) -> KnownKey? in
            guard let key = try reader.serverKey(keyID), let user = try reader.user(key.user)
            else { return nil }
            return KnownKey(
                key: key, user: user, managesSchema: try reader.managesSchema(key))
        }
        guard let found, !found.key.isRevoked, found.key.container == container,
            !found.user.isDisabled
        else { throw Self.failed }
        return found
    }
}
