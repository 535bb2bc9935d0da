package import RecordModel
package import RecordServerCore
package import RecordWire

/// The credentials that a server makes at its first start, to be shown once.
package struct FirstRun: Sendable {
    package let container: Text
    package let administrator: Text
    package let password: String
    package let tokens: [(environment: ServerEnvironment, token: Text)]

    /// Makes a container, an administrator and API tokens of both environments when there is
    /// neither a container nor a user yet. Returns nil when there is one. It makes everything or
    /// nothing, and of several processes that begin at the same time only one makes it.
    package static func prepare(
        _ storage: any Storage, container: Text, now: Timestamp, cost: Password.Cost = .standard
    ) async throws(ServerError) -> FirstRun? {
        guard try await storage.read(isEmpty) else { return nil }
        try ContainerKey.requireContainerName(container)
        let password = URLSafeBase64.encode(SecureRandom.bytes(15))
        let user = try await Accounts.newUser(
            emailAddress: "admin@localhost", password: Array(password.utf8),
            givenName: "Administrator", familyName: "", isAdministrator: true, cost: cost, now: now)
        var tokens: [(environment: ServerEnvironment, token: Text)] = []
        var rows: [APITokenRow] = []
        for environment in ServerEnvironment.allCases {
            let (token, row) = try Accounts.newAPIToken(
                ContainerKey(container: container, environment: environment), name: "first run",
                callbackURL: CallbackURL.loopback, now: now)
            tokens.append((environment, token))
            rows.append(row)
        }
        let isFirst = try await storage.write { [rows] (transaction) throws(ServerError) in
            guard try isEmpty(transaction) else { return false }
            try transaction.createContainer(container)
            try transaction.putUser(user)
            for row in rows { try transaction.putAPIToken(row) }
            return true
        }
        guard isFirst else { return nil }
        return FirstRun(
            container: container, administrator: user.emailAddress, password: password,
            tokens: tokens)
    }

    @Sendable private static func isEmpty(_ reader: any StorageReader) throws(ServerError) -> Bool {
        guard try reader.containers().isEmpty else { return false }
        return try reader.users().isEmpty
    }

    /// Returns the text for the terminal of the operator.
    package func text(baseURL: String) -> String {
        var rows =
            [
                ("URL", baseURL), ("container", container.string),
                ("administrator", administrator.string), ("password", password),
            ] + tokens.map { ("API token, \($0.environment.rawValue)", $0.token.string) }
        for (environment, token) in tokens {
            let key = ContainerKey(container: container, environment: environment)
            let link = JoinLink(baseURL: baseURL, container: key, token: token)
            rows.append(("join link, \(environment.rawValue)", link.text))
        }
        let width = rows.map(\.0.count).max() ?? 0
        let lines = rows.map { name, value in
            "  " + name + String(repeating: " ", count: width - name.count + 2) + value
        }
        let rule = String(repeating: "-", count: 72)
        return ([rule, "This is shown once. Keep it:", ""] + lines + ["", rule])
            .joined(separator: "\n")
    }
}
