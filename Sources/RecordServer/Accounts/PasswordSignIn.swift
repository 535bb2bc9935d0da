package import RecordModel
package import RecordWire

/// Finds out who somebody is by e-mail address and password.
package final class PasswordSignIn: Sendable {
    private let storage: any Storage
    private let throttle = SignInThrottle()

    package init(storage: any Storage) { self.storage = storage }

    /// The user; nil for a wrong password, an unknown address and a disabled user alike, after the
    /// same time. `address` is the network address of the client.
    ///
    /// Errors: `throttled` after many failures, `tryAgainLater` when too many people sign in.
    package func user(
        emailAddress: Text, password: [UInt8], address: String, now: Timestamp
    ) async throws(ServerError) -> UserRow? {
        let milliseconds = now.nanoseconds / 1_000_000
        let account = EmailAddress.folded(emailAddress)
        try throttle.begin(account: account, address: address, at: milliseconds)
        let user = try await storage.read { (reader) throws(ServerError) in
            try reader.user(emailAddress: account)
        }
        let isRight = try await Password.verify(password, against: user?.passwordHash)
        guard isRight, let user, !user.isDisabled else { return nil }
        throttle.succeed(account: account, address: address, at: milliseconds)
        return user
    }
}

/// E-mail addresses as names of accounts.
package enum EmailAddress {
    /// As it is stored and looked up: in lower case, no spaces around.
    package static func folded(_ text: Text) -> Text {
        let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") }
        let trimmed = text.utf8.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
        return Text(String(decoding: trimmed, as: UTF8.self).lowercased())
    }

    /// Whether it can be one: something, one `@`, a domain, nothing invisible.
    package static func isWellFormed(_ text: Text) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { !$0.isEmpty } && text.utf8.count <= 254
            && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
            && String(validating: text.utf8, as: UTF8.self) != nil
    }
}
