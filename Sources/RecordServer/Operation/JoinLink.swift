package import RecordModel
package import RecordServerCore
import RecordServerHTTP
package import RecordWire

/// The data that a client needs to begin to sign in, in one link. They are behind the `#`, so that
/// browsers send them to nobody and no log has them.
package struct JoinLink: Hashable, Sendable {
    /// The scheme, host and port, without a slash at the end.
    package let baseURL: String
    package let container: ContainerKey
    package let token: Text

    package init(baseURL: String, container: ContainerKey, token: Text) {
        self.baseURL = baseURL
        self.container = container
        self.token = token
    }

    /// The link: `https://HOST/join#container=…&environment=…&token=…`
    package var text: String {
        "\(baseURL)/join#container=\(QueryEncoding.encode(container.container.utf8))"
            + "&environment=\(container.environment.rawValue)"
            + "&token=\(QueryEncoding.encode(token.utf8))"
    }

    package static func isBaseURL(_ text: String) -> Bool {
        guard let scheme = ["https://", "http://"].first(where: { text.hasPrefix($0) }) else {
            return false
        }
        return ClientIdentity.cleanHost(String(text.dropFirst(scheme.count))) != nil
    }
}

extension Accounts {
    /// Checks a token. Errors: `notFound` for anything except an API token of this container and
    /// environment.
    package func requireAPIToken(
        _ token: Text, of container: ContainerKey
    ) async throws(ServerError) {
        let row = try await storage.read { (reader) throws(ServerError) in
            try reader.apiToken(hash: Secret.hash(token))
        }
        guard let row, !row.isRevoked, row.container == container else {
            throw ServerError(
                .notFound, "This is no API token of this container and environment.")
        }
    }
}
