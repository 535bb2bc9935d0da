import RecordModel
import RecordWire

/// A browser in which people have signed in before, as its cookie proves. It opens nothing. Its
/// users only do not have to wait because of strangers who guess passwords.
struct KnownDevice: Hashable, Sendable {
    static let lifeSeconds: Int64 = 365 * 24 * 3600
    private static let maximumUsers = 4

    /// The ID: 128 bits in hexadecimal.
    let id: Text
    /// The users who signed in last, with the latest at the end.
    private(set) var users: [UserName]

    /// Makes a device that nobody knows yet.
    init() {
        id = Text(SecureRandom.hex128())
        users = []
    }

    static func cookieName(isSecure: Bool) -> String {
        isSecure ? "__Host-recordfs-device" : "recordfs-device"
    }

    mutating func add(_ user: UserName) {
        users.removeAll { $0 == user }
        users.append(user)
        users = users.suffix(Self.maximumUsers)
    }

    func sealed(by seal: Seal) -> Text {
        var payload = ByteWriter()
        payload.appendCounted(id.utf8)
        for user in users { payload.appendCounted(user.bytes) }
        return seal.seal(payload.bytes, for: .device)
    }

    /// Opens a cookie. Returns nil when this server did not make it.
    init?(_ sealed: Text, seal: Seal) {
        guard let payload = seal.open(sealed, for: .device) else { return nil }
        var reader = ByteReader(payload)
        guard let id = reader.counted() else { return nil }
        self.id = Text(utf8: id)
        users = []
        while let user = reader.counted() { users.append(UserName(bytes: user)) }
    }
}

extension Pages {
    func knownDevice(_ request: PageRequest) -> KnownDevice? {
        let name = KnownDevice.cookieName(isSecure: request.isSecure)
        return request.cookies[name].flatMap { KnownDevice(Text($0), seal: authenticator.seal) }
    }

    /// Remembers the browser as one of this user.
    func remember(_ user: UserRow, _ request: PageRequest, _ response: inout PageResponse) {
        var device = knownDevice(request) ?? KnownDevice()
        device.add(user.name)
        response.setCookie(
            KnownDevice.cookieName(isSecure: request.isSecure),
            device.sealed(by: authenticator.seal).string, isSecure: request.isSecure,
            seconds: KnownDevice.lifeSeconds)
    }
}
