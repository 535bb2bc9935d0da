package import RecordModel

/// Makes the values that clients keep and send back unforgeable: HMAC-SHA256 with a key of this
/// server.
///
/// A sealed token is base64 of payload and MAC. A token that appears in bodies only is standard
/// base64, because clients of the original service decode it there. Other tokens are URL-safe
/// base64 without padding. The MAC covers the purpose of the token, so that no token passes for one
/// of another kind. It also covers the incarnation of the server: a token from a time that a
/// restored backup does not know is refused everywhere.
package struct Seal: Sendable {
    package enum Purpose: String, CaseIterable, Sendable {
        case zoneToken, databaseToken, continuation, uploadURL, downloadURL, receipt
        case webAuthToken, signIn, form, browser, device, courier

        /// Indicates whether the token is never part of a URL.
        fileprivate var isForBodies: Bool {
            switch self {
            case .zoneToken, .databaseToken, .continuation, .receipt: true
            case .uploadURL, .downloadURL, .webAuthToken, .signIn, .form, .browser, .device,
                .courier:
                false
            }
        }

        /// Indicates whether the token is about a session, whose row tells whether it is valid, or
        /// about the place where somebody signed in. When an operator keeps the sessions, these
        /// tokens stay valid.
        fileprivate var isOfSession: Bool {
            switch self {
            case .webAuthToken, .browser, .device: true
            case .zoneToken, .databaseToken, .continuation, .uploadURL, .downloadURL, .receipt,
                .signIn, .form, .courier:
                false
            }
        }
    }

    private static let macBytes = 16
    private let sessionKey: [UInt8]
    private let key: [UInt8]

    /// Makes a seal. `key` holds at least 32 secret bytes. Both parameters are the same for every
    /// process of a server; `incarnation` changes with each restore.
    package init(key: [UInt8], incarnation: [UInt8] = []) {
        sessionKey = key
        self.key = HMAC.code(of: Array("incarnation".utf8) + [0] + incarnation, key: sessionKey)
    }

    package func seal(_ payload: [UInt8], for purpose: Purpose) -> Text {
        let bytes = payload + mac(payload, purpose)
        return purpose.isForBodies
            ? Text(utf8: Base64.encode(bytes)) : Text(URLSafeBase64.encode(bytes))
    }

    /// Returns the payload of a token in either alphabet, with or without padding. Returns nil when
    /// this server did not seal the token for this purpose.
    package func open(_ token: Text, for purpose: Purpose) -> [UInt8]? {
        guard let bytes = URLSafeBase64.decode(eitherAlphabet: token.utf8),
            bytes.count >= Self.macBytes
        else { return nil }
        let payload = Array(bytes.dropLast(Self.macBytes))
        guard ConstantTime.equal(Array(bytes.suffix(Self.macBytes)), mac(payload, purpose)) else {
            return nil
        }
        return payload
    }

    private func mac(_ payload: [UInt8], _ purpose: Purpose) -> [UInt8] {
        let message = Array(purpose.rawValue.utf8) + [0] + payload
        let code = HMAC.code(of: message, key: purpose.isOfSession ? sessionKey : key)
        return Array(code.prefix(Self.macBytes))
    }
}

/// Compares secrets in a time that does not depend on where they differ.
package enum ConstantTime {
    package static func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        var difference: UInt8 = 0
        for index in left.indices { difference |= left[index] ^ right[index] }
        return difference == 0
    }
}

/// Base64 with `-` and `_`, without padding (RFC 4648, section 5).
package enum URLSafeBase64 {
    package static func encode(_ bytes: [UInt8]) -> String {
        var text = Base64.encode(bytes)
        while text.last == UInt8(ascii: "=") { text.removeLast() }
        for index in text.indices {
            if text[index] == UInt8(ascii: "+") { text[index] = UInt8(ascii: "-") }
            if text[index] == UInt8(ascii: "/") { text[index] = UInt8(ascii: "_") }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes standard base64 as well, each alphabet with or without its padding.
    package static func decode(eitherAlphabet text: [UInt8]) -> [UInt8]? {
        var safe = text
        while safe.last == UInt8(ascii: "=") { safe.removeLast() }
        for index in safe.indices {
            if safe[index] == UInt8(ascii: "+") { safe[index] = UInt8(ascii: "-") }
            if safe[index] == UInt8(ascii: "/") { safe[index] = UInt8(ascii: "_") }
        }
        return decode(safe)
    }

    package static func decode(_ text: [UInt8]) -> [UInt8]? {
        var standard = text
        for index in standard.indices {
            switch standard[index] {
            case UInt8(ascii: "-"): standard[index] = UInt8(ascii: "+")
            case UInt8(ascii: "_"): standard[index] = UInt8(ascii: "/")
            case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): return nil
            default: break
            }
        }
        while standard.count % 4 != 0 { standard.append(UInt8(ascii: "=")) }
        guard let bytes = Base64.decode(standard), encode(bytes).utf8.elementsEqual(text) else {
            return nil
        }
        return bytes
    }
}

/// Names and secrets that nobody can guess.
package enum SecureRandom {
    /// Returns bytes from the system's secure source.
    package static func bytes(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    /// Returns 128 bits as 32 hexadecimal digits.
    package static func hex128() -> String {
        bytes(16).map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }

    /// Returns 128 bits in URL-safe base64: 22 characters.
    package static func shortGUID() -> Text { Text(URLSafeBase64.encode(bytes(16))) }

    package static func incarnation() -> UInt64 {
        var generator = SystemRandomNumberGenerator()
        return UInt64.random(in: 1 ... .max, using: &generator)
    }
}
