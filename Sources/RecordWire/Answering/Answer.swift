/// The JSON of an answer, in the parts in which it was printed. It holds stored fields as they were
/// read, without a copy.
package struct Answer: Hashable, Sendable {
    package let parts: [[UInt8]]
    /// The size in bytes.
    package let count: Int

    package init(parts: [[UInt8]]) {
        self.parts = parts
        count = parts.reduce(0) { $0 + $1.count }
    }

    package init(_ bytes: [UInt8]) { self.init(parts: [bytes]) }

    /// The whole answer in one array.
    package var bytes: [UInt8] {
        if parts.count == 1, let part = parts.first { return part }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        for part in parts { bytes += part }
        return bytes
    }
}
