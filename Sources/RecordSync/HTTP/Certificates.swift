import Glibc
package import RecordModel
import RecordStore

extension HTTPCall {
    private static let largestAuthority = 1 << 20

    /// Checks that a file contains certificates that a store can trust. Errors: `invalidArgument`
    /// when it contains none.
    package static func checkAuthority(_ path: String) throws(RecordError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw RecordError.systemCall("open \(path)", errno) }
        defer { close(descriptor) }
        var text: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while text.count < largestAuthority {
            let count = read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw RecordError.systemCall("read \(path)", errno) }
            if count == 0 { break }
            text += piece[..<count]
        }
        guard hasCertificate(String(decoding: text, as: UTF8.self)) else {
            throw RecordError(
                .invalidArgument,
                "is no certificate in PEM, which begins with -----BEGIN CERTIFICATE-----.")
        }
    }

    /// Returns true when there is a whole certificate, as far as its frame shows: PEM around a
    /// sequence of DER.
    private static func hasCertificate(_ text: String) -> Bool {
        var base64: [UInt8]?
        for line in text.split(whereSeparator: \.isNewline) {
            switch line {
            case "-----BEGIN CERTIFICATE-----": base64 = []
            case "-----END CERTIFICATE-----":
                if let bytes = base64.flatMap({ Base64.decode($0) }), isSequence(bytes) {
                    return true
                }
                base64 = nil
            default: base64?.append(contentsOf: line.utf8)
            }
        }
        return false
    }

    /// Returns whether the bytes are one sequence with a length of one or two bytes, from 128 bytes
    /// to 64 KiB. Every certificate is such a sequence.
    private static func isSequence(_ der: [UInt8]) -> Bool {
        guard der.count > 4, der[0] == 0x30 else { return false }
        return switch der[1] {
        case 0x81: Int(der[2]) == der.count - 3
        case 0x82: Int(der[2]) << 8 + Int(der[3]) == der.count - 4
        default: false
        }
    }
}
