package import RecordModel
import RecordWire

/// The content of the address of a sign-in page: the client that a person is to sign in to. It is
/// sealed, so that only this server can send people to a sign-in page on behalf of a client.
package struct SignInRequest: Hashable, Sendable {
    /// The hash of the API token. Its row has the container and the URL that sign-in returns to.
    package let apiTokenHash: Text
    package let container: ContainerKey
    /// The origin of the page that made the request, checked against the API token.
    package let origin: Text?
    package let expiresMilliseconds: Int64

    package init(
        apiTokenHash: Text, container: ContainerKey, origin: Text?, expiresMilliseconds: Int64
    ) {
        self.apiTokenHash = apiTokenHash
        self.container = container
        self.origin = origin
        self.expiresMilliseconds = expiresMilliseconds
    }

    package func sealed(by seal: Seal) -> Text {
        var payload = ByteWriter()
        payload.appendCounted(apiTokenHash.utf8)
        payload.appendCounted(container.container.utf8)
        payload.appendCounted(Array(container.environment.rawValue.utf8))
        payload.appendCounted(origin?.utf8 ?? [])
        payload.append(expiresMilliseconds)
        return seal.seal(payload.bytes, for: .signIn)
    }

    /// Opens an address. Returns nil when this server did not make it. It may have expired.
    package init?(_ sealed: Text, seal: Seal) {
        guard let payload = seal.open(sealed, for: .signIn) else { return nil }
        var reader = ByteReader(payload)
        guard let hash = reader.counted(), let container = reader.counted(),
            let environment = reader.counted().flatMap({
                ServerEnvironment(rawValue: String(decoding: $0, as: UTF8.self))
            }),
            let origin = reader.counted(), let expires = reader.int64(), reader.isAtEnd
        else { return nil }
        self.init(
            apiTokenHash: Text(utf8: hash),
            container: ContainerKey(container: Text(utf8: container), environment: environment),
            origin: origin.isEmpty ? nil : Text(utf8: origin), expiresMilliseconds: expires)
    }

    /// Returns the address of the page, under a base URL without a slash at its end.
    package func url(baseURL: String, seal: Seal) -> String {
        "\(baseURL)/sign-in?request=\(sealed(by: seal))"
    }
}
