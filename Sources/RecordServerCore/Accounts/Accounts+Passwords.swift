package import RecordModel
package import RecordWire

extension ServerSetting {
    /// The setting for the link by which a user may choose a password without the old one: the end
    /// of its validity, and the hash of its secret. It is empty when there is no link.
    package static func passwordReset(of user: UserName) -> String { "password-reset \(user)" }
}

/// A link with which one person chooses a password once, without the old one.
package struct PasswordReset: Hashable, Sendable {
    package static let lifeMilliseconds: Int64 = 24 * 3600 * 1000

    package let user: UserName
    let secret: Text

    /// The code in the address of the page.
    package var code: Text {
        Text(URLSafeBase64.encode(user.bytes) + "." + secret.string)
    }

    init(user: UserName) {
        self.user = user
        secret = Secret.make()
    }

    /// Reads a code. Returns nil for anything that cannot be one.
    package init?(_ code: Text) {
        let parts = code.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 2, let name = URLSafeBase64.decode(eitherAlphabet: Array(parts[0])),
            Secret.isWellFormed(Text(utf8: Array(parts[1])))
        else { return nil }
        user = UserName(bytes: name)
        secret = Text(utf8: Array(parts[1]))
    }

    /// Returns the link under a base URL, which has no slash at its end.
    package func url(baseURL: String) -> String { "\(baseURL)/reset?code=\(code)" }
}

extension StorageReader {
    /// Returns the user whose password the link may set now. Returns nil for a link that is used,
    /// replaced or too old.
    func user(of reset: PasswordReset, at milliseconds: Int64) throws(ServerError) -> UserRow? {
        let stored = try setting(ServerSetting.passwordReset(of: reset.user)) ?? []
        var bytes = ByteReader(stored)
        guard let end = bytes.int64(), milliseconds <= end, let hash = bytes.counted(),
            ConstantTime.equal(Array(hash), Secret.hash(reset.secret).utf8),
            let user = try user(reset.user), !user.isDisabled
        else { return nil }
        return user
    }
}

extension StorageTransaction {
    /// Ends all sign-ins of a user except one. Returns how many it ended.
    package func endSessions(of user: UserName, but kept: Text? = nil) throws(ServerError) -> Int {
        var count = 0
        for var session in try sessions(user) where !session.isRevoked && session.id != kept {
            session.isRevoked = true
            try putSession(session)
            count += 1
        }
        return count
    }

    /// Stores a password. After that, no link for another one is valid any more.
    fileprivate func setPassword(_ hash: Text, of name: UserName) throws(ServerError) -> UserRow {
        guard var user = try user(name) else {
            throw ServerError(.notFound, "There is no such user.")
        }
        user.passwordHash = hash
        try putUser(user)
        try putSetting(ServerSetting.passwordReset(of: name), [])
        return user
    }
}

extension Accounts {
    /// Sets the password for an operator, and ends all sign-ins of the user.
    package func setPassword(
        of name: Text, to password: [UInt8], cost: Password.Cost = .standard,
        now: Timestamp = SystemClock().now
    ) async throws(ServerError) -> UserRow {
        let user = try await user(name)
        let hash = try await Password.hash(password, for: user, cost: cost)
        return try await storage.write { (transaction) throws(ServerError) in
            _ = try transaction.endSessions(of: user.name)
            try transaction.addAccountEvent(
                AccountEvent(
                    user: user.name, kind: .passwordReset,
                    milliseconds: now.nanoseconds / 1_000_000))
            return try transaction.setPassword(hash, of: user.name)
        }
    }

    /// Returns a user by e-mail address or record name. Errors: `notFound`.
    package func user(_ name: Text) async throws(ServerError) -> UserRow {
        try await storage.read { (reader) throws(ServerError) in try reader.findUser(name) }
    }

    /// Makes a new link with which the user can choose a password. Earlier links of the user end.
    /// Errors: `notFound`, `badRequest` for a disabled user.
    package func makePasswordReset(of name: Text, now: Timestamp) async throws(ServerError)
        -> PasswordReset
    {
        let user = try await user(name)
        guard !user.isDisabled else {
            throw ServerError(.badRequest, "The user is disabled: enable it first.")
        }
        let reset = PasswordReset(user: user.name)
        var value = ByteWriter()
        value.append(now.nanoseconds / 1_000_000 + PasswordReset.lifeMilliseconds)
        value.appendCounted(Secret.hash(reset.secret).utf8)
        let bytes = value.bytes
        try await storage.write { (transaction) throws(ServerError) in
            try transaction.putSetting(ServerSetting.passwordReset(of: user.name), bytes)
        }
        return reset
    }

    /// Sets the password by a link, which nobody can use again, and ends all sign-ins. Errors:
    /// `badRequest` for a password that is not allowed, `notFound` for a link that is not valid.
    package func setPassword(
        by reset: PasswordReset, to password: [UInt8], cost: Password.Cost, _ event: AccountEvent
    ) async throws(ServerError) -> UserRow {
        let user = try await storage.read { (reader) throws(ServerError) in
            try reader.user(of: reset, at: event.milliseconds)
        }
        guard let user else { throw Self.staleReset }
        let hash = try await Password.hash(password, for: user, cost: cost)
        return try await storage.write { (transaction) throws(ServerError) in
            guard try transaction.user(of: reset, at: event.milliseconds) != nil else {
                throw Self.staleReset
            }
            _ = try transaction.endSessions(of: user.name)
            try transaction.addAccountEvent(event)
            return try transaction.setPassword(hash, of: user.name)
        }
    }

    package static let staleReset = ServerError(
        .notFound, "This link was used or replaced, or is too old. Ask the operator for another.")

    /// Sets the password for an owner who has shown the old one. Ends all sign-ins except
    /// `session`, or none. Errors: `badRequest` for a password that is not allowed.
    package func changePassword(
        of user: UserRow, to password: [UInt8], cost: Password.Cost, endsOthersThan session: Text?,
        _ event: AccountEvent
    ) async throws(ServerError) {
        let hash = try await Password.hash(password, for: user, cost: cost)
        try await storage.write { (transaction) throws(ServerError) in
            if let session { _ = try transaction.endSessions(of: user.name, but: session) }
            try transaction.addAccountEvent(event)
            _ = try transaction.setPassword(hash, of: user.name)
        }
    }

    /// Ends all sign-ins of a user. Returns how many there were. Errors: `notFound`.
    @discardableResult
    package func endSessions(
        of name: Text, now: Timestamp, address: Text = "", agent: Text = ""
    ) async throws(ServerError) -> Int {
        try await storage.write { (transaction) throws(ServerError) in
            let user = try transaction.findUser(name)
            try transaction.addAccountEvent(
                AccountEvent(
                    user: user.name, kind: .sessionsEnded,
                    milliseconds: now.nanoseconds / 1_000_000, address: address, agent: agent))
            return try transaction.endSessions(of: user.name)
        }
    }

    /// Returns the events of an account, the newest first. Errors: `notFound`.
    package func events(of name: Text) async throws(ServerError) -> [AccountEvent] {
        try await storage.read { (reader) throws(ServerError) in
            try reader.accountEvents(
                try reader.findUser(name).name, limit: AccountEvent.limit)
        }
    }
}
