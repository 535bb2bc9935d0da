package import RecordModel

/// One message of the control socket: a JSON header and bytes that it describes.
///
/// On the wire: the length of the header and of the body in bytes, each as four bytes with the
/// highest first, then the header, then the body.
package struct ControlFrame: Sendable {
    /// The longest header and the longest frame that either side accepts, in bytes.
    package static let headerLimit = 4 << 20
    package static let limit = 64 << 20
    package static let prefixLength = 8

    package var header: JSONValue
    package var body: [UInt8]

    package init(header: JSONValue, body: [UInt8] = []) {
        self.header = header
        self.body = body
    }

    /// Returns the bytes of the frame.
    ///
    /// Errors: `tooLarge` when the other side would refuse it.
    package func encoded() throws(RecordError) -> [UInt8] {
        let header = header.serialized()
        guard header.count <= Self.headerLimit, header.count + body.count <= Self.limit else {
            throw RecordError(
                .tooLarge, "a request holds at most \(Self.limit >> 20) MiB. Send it in parts.")
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.prefixLength + header.count + body.count)
        for length in [header.count, body.count] {
            for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: length >> shift)) }
        }
        bytes += header
        bytes += body
        return bytes
    }

    /// Returns the lengths in a frame's first eight bytes.
    ///
    /// Errors: `tooLarge` over a limit, `invalidArgument` when the prefix is not whole.
    package static func lengths(
        ofPrefix prefix: [UInt8]
    ) throws(RecordError) -> (header: Int, body: Int) {
        guard prefix.count == prefixLength else {
            throw RecordError(.invalidArgument, "the message ends inside its length.")
        }
        let header = prefix[0..<4].reduce(0) { $0 << 8 | Int($1) }
        let body = prefix[4..<8].reduce(0) { $0 << 8 | Int($1) }
        guard header <= headerLimit, header + body <= limit else {
            throw RecordError(
                .tooLarge, "the message claims \(header + body) bytes; the limit is \(limit).")
        }
        return (header, body)
    }
}
