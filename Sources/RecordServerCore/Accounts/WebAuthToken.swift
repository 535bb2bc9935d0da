package import RecordModel

/// The content of a web auth token. It is sealed, so that only this server can have made it. The
/// cookie of a browser on this server's own pages has the same content, sealed for another purpose.
package struct WebAuthToken: Hashable, Sendable {
    /// The most that a clock may have been set back since the token was made, in milliseconds.
    static let clockTolerance: Int64 = 60_000

    private static let version: UInt8 = 1

    /// The key of the session's row: 128 bits in hexadecimal.
    package let session: Text
    /// The number of the token: 1 for the token of the sign-in itself, one more for each successor.
    let generation: Int64
    /// The time of issue, in milliseconds since 1970-01-01T00:00:00Z.
    let issuedMilliseconds: Int64
    /// The time for which the token is valid when nobody uses it.
    let lifeSeconds: Int64

    /// Returns whether the token's own time has passed, or has not begun.
    package func isExpired(at milliseconds: Int64) -> Bool {
        milliseconds > issuedMilliseconds + lifeSeconds * 1000
            || issuedMilliseconds > milliseconds + Self.clockTolerance
    }

    func successor(at milliseconds: Int64) -> WebAuthToken {
        WebAuthToken(
            session: session, generation: generation + 1, issuedMilliseconds: milliseconds,
            lifeSeconds: lifeSeconds)
    }

    package func sealed(by seal: Seal, for purpose: Seal.Purpose = .webAuthToken) -> Text {
        var payload = ByteWriter()
        payload.append(Self.version)
        payload.append(Hexadecimal.decode(session.utf8) ?? [])
        payload.append(generation)
        payload.append(issuedMilliseconds)
        payload.append(lifeSeconds)
        return seal.seal(payload.bytes, for: purpose)
    }

    package init(session: Text, generation: Int64, issuedMilliseconds: Int64, lifeSeconds: Int64) {
        self.session = session
        self.generation = generation
        self.issuedMilliseconds = issuedMilliseconds
        self.lifeSeconds = lifeSeconds
    }

    /// Opens a token. Returns nil when this server did not make it.
    package init?(_ token: Text, seal: Seal, for purpose: Seal.Purpose = .webAuthToken) {
        guard let payload = seal.open(token, for: purpose) else { return nil }
        var reader = ByteReader(payload)
        guard reader.byte() == Self.version, let session = reader.bytes(16),
            let generation = reader.int64(), let issued = reader.int64(),
            let life = reader.int64(), reader.isAtEnd
        else { return nil }
        self.init(
            session: Text(Hexadecimal.encode(session)), generation: generation,
            issuedMilliseconds: issued, lifeSeconds: life)
    }
}
