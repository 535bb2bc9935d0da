package import RecordModel

/// Identifiers of requests: random UUIDs.
package enum RequestIdentifier {
    package static func make() -> Text {
        var generator = SystemRandomNumberGenerator()
        let words = [generator.next(), generator.next()]
        let bytes = words.flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) }
        }
        return Text(utf8: UUIDText.version4(of: bytes, uppercase: false))
    }
}
