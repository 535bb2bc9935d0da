package import RecordModel
package import RecordWire

/// What a server is given the first time it starts, to be shown once.
package struct FirstRun: Sendable {
    package let container: Text
    package let administrator: Text
    package let password: String
    package let tokens: [(environment: ServerEnvironment, token: Text)]

    /// Makes a container, an administrator and API tokens of both environments where there is no
    /// container yet; nil where there is one.
    package static func prepare(
        _ storage: any Storage, container: Text, now: Timestamp
    ) async throws(ServerError) -> FirstRun? {
        let accounts = Accounts(storage: storage)
        guard try await accounts.containers().isEmpty, try await accounts.users().isEmpty else {
            return nil
        }
        let password = URLSafeBase64.encode(SecureRandom.bytes(15))
        let user = try await accounts.addUser(
            emailAddress: "admin@localhost", password: Array(password.utf8),
            givenName: "Administrator", isAdministrator: true, now: now)
        // After the user: a run that is broken off before this line is the first one again, but
        // for the user's name.
        try await accounts.createContainer(container)
        var tokens: [(ServerEnvironment, Text)] = []
        for environment in ServerEnvironment.allCases {
            let key = ContainerKey(container: container, environment: environment)
            tokens.append(
                (
                    environment,
                    try await accounts.createAPIToken(
                        key, name: "first run", callbackURL: CallbackURL.loopback, now: now
                    ).token
                ))
        }
        return FirstRun(
            container: container, administrator: user.emailAddress, password: password,
            tokens: tokens)
    }

    /// For the terminal of the operator.
    package func text(baseURL: String) -> String {
        let rows =
            [
                ("URL", baseURL), ("container", container.string),
                ("administrator", administrator.string), ("password", password),
            ] + tokens.map { ("API token, \($0.environment.rawValue)", $0.token.string) }
        let width = rows.map(\.0.count).max() ?? 0
        let lines = rows.map { name, value in
            "  " + name + String(repeating: " ", count: width - name.count + 2) + value
        }
        let rule = String(repeating: "-", count: 72)
        return ([rule, "This is shown once. Keep it:", ""] + lines + ["", rule])
            .joined(separator: "\n")
    }
}
