package import RecordModel
package import RecordWire

/// A browser in which people have signed in before, as its cookie proves. It opens nothing. Its
/// users only do not have to wait because of strangers who guess passwords.
package struct KnownDevice: Hashable, Sendable {
    package static let lifeSeconds: Int64 = 365 * 24 * 3600
    private static let maximumUsers = 4

    /// The ID: 128 bits in hexadecimal.
    let id: Text
    /// The users who signed in last, with the latest at the end.
    package private(set) var users: [UserName]

    /// Makes a device that nobody knows yet.
    package init() {
        id = Text(SecureRandom.hex128())
        users = []
    }

    package mutating func add(_ user: UserName) {
        users.removeAll { $0 == user }
        users.append(user)
        users = users.suffix(Self.maximumUsers)
    }

    package func sealed(by seal: Seal) -> Text {
        var payload = ByteWriter()
        payload.appendCounted(id.utf8)
        for user in users { payload.appendCounted(user.bytes) }
        return seal.seal(payload.bytes, for: .device)
    }

    /// Opens a cookie. Returns nil when this server did not make it.
    package init?(_ sealed: Text, seal: Seal) {
        guard let payload = seal.open(sealed, for: .device) else { return nil }
        var reader = ByteReader(payload)
        guard let id = reader.counted() else { return nil }
        self.id = Text(utf8: id)
        users = []
        while let user = reader.counted() { users.append(UserName(bytes: user)) }
    }
}
