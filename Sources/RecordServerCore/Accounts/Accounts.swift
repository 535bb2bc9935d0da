package import RecordModel
package import RecordWire

/// The operations of an administrator on users, containers and credentials. Every change counts for
/// the next request, in every process of the server.
package struct Accounts: Sendable {
    package let storage: any Storage

    package init(storage: any Storage) { self.storage = storage }

    /// Adds a user. Errors: `badRequest` for a bad address or password, `exists` for a known
    /// address.
    package func addUser(
        emailAddress: Text, password: [UInt8], givenName: Text = "", familyName: Text = "",
        isAdministrator: Bool = false, isDiscoverable: Bool = false,
        cost: Password.Cost = .standard, now: Timestamp
    ) async throws(ServerError) -> UserRow {
        let row = try await Self.newUser(
            emailAddress: emailAddress, password: password, givenName: givenName,
            familyName: familyName, isAdministrator: isAdministrator,
            isDiscoverable: isDiscoverable, cost: cost, now: now)
        try await storage.write { (transaction) throws(ServerError) in
            guard try transaction.user(emailAddress: row.emailAddress) == nil else {
                throw ServerError(.exists, "There is a user with this e-mail address.")
            }
            try transaction.putUser(row)
        }
        return row
    }

    /// Makes a user who is not stored yet. Errors: `badRequest` for a bad address or password.
    package static func newUser(
        emailAddress: Text, password: [UInt8], givenName: Text, familyName: Text,
        isAdministrator: Bool, isDiscoverable: Bool = false, cost: Password.Cost, now: Timestamp
    ) async throws(ServerError) -> UserRow {
        let address = EmailAddress.folded(emailAddress)
        guard EmailAddress.isWellFormed(address) else {
            throw ServerError(.badRequest, "This is no e-mail address.")
        }
        var user = UserRow(
            name: UserName("_" + SecureRandom.hex128()), emailAddress: address,
            givenName: givenName, familyName: familyName, passwordHash: "",
            isAdministrator: isAdministrator, createdMilliseconds: now.nanoseconds / 1_000_000)
        user.isDiscoverable = isDiscoverable
        user.passwordHash = try await Password.hash(password, for: user, cost: cost)
        return user
    }

    /// Changes a user, found by e-mail address or record name, and ends all sign-ins if asked to.
    /// Errors: `notFound`.
    package func changeUser(
        _ name: Text, endsSessions: Bool = false,
        _ change: @escaping @Sendable (inout UserRow) -> Void
    ) async throws(ServerError) -> UserRow {
        try await storage.write { (transaction) throws(ServerError) in
            var user = try transaction.findUser(name)
            change(&user)
            try transaction.putUser(user)
            if endsSessions { _ = try transaction.endSessions(of: user.name) }
            return user
        }
    }

    /// Returns all users, in the order of their e-mail addresses.
    package func users() async throws(ServerError) -> [UserRow] {
        try await storage.read { (reader) throws(ServerError) in try reader.users() }
    }

    /// Makes a container. Does nothing when it exists. Errors: `badRequest` for a bad name or
    /// title.
    package func createContainer(_ name: Text, title: Text? = nil) async throws(ServerError) {
        try ContainerKey.requireContainerName(name)
        if let title { try Self.checkTitle(title) }
        try await storage.write { (transaction) throws(ServerError) in
            guard try !transaction.containers().contains(name) else { return }
            try transaction.createContainer(name)
            if let title {
                try transaction.putSetting(ServerSetting.title(of: name), title.utf8)
            }
        }
    }

    package func containers() async throws(ServerError) -> [Text] {
        try await storage.read { (reader) throws(ServerError) in try reader.containers() }
    }

    /// Ends a session. Returns its user, or nil when it had ended before. Errors: `notFound`.
    @discardableResult
    package func revokeSession(
        _ id: Text, of user: UserName? = nil
    ) async throws(ServerError) -> UserName? {
        try await storage.write { (transaction) throws(ServerError) in
            guard var session = try transaction.session(id), user == nil || session.user == user
            else { throw ServerError(.notFound, "There is no such session.") }
            guard !session.isRevoked else { return nil }
            session.isRevoked = true
            try transaction.putSession(session)
            return session.user
        }
    }

    /// Returns the sessions of a user, the newest first.
    package func sessions(of name: Text) async throws(ServerError) -> [SessionRow] {
        let sessions = try await storage.read { (reader) throws(ServerError) -> [SessionRow] in
            let user = try reader.findUser(name)
            return try reader.sessions(user.name)
        }
        return sessions.sorted { $0.createdMilliseconds > $1.createdMilliseconds }
    }
}

extension ContainerKey {
    /// Checks a name. Errors: `badRequest` for anything that cannot be a container's name.
    package static func requireContainerName(_ name: Text) throws(ServerError) {
        guard isContainerName(name) else {
            throw ServerError(
                .badRequest,
                "A container's name is iCloud. and letters, digits, dots and hyphens.")
        }
    }

    /// Returns whether the name is `iCloud.` and a reverse domain name.
    package static func isContainerName(_ name: Text) -> Bool {
        let prefix = Array("iCloud.".utf8)
        return name.utf8.starts(with: prefix) && (prefix.count + 1...255).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}

extension AccountReader {
    /// Returns a user by e-mail address or record name. Errors: `notFound`.
    package func findUser(_ name: Text) throws(ServerError) -> UserRow {
        if name.utf8.first == UInt8(ascii: "_"), let user = try user(UserName(bytes: name.utf8)) {
            return user
        }
        guard let user = try user(emailAddress: EmailAddress.folded(name)) else {
            throw ServerError(.notFound, "There is no such user.")
        }
        return user
    }
}
