import RecordModel

/// The limit for the end of a write, or for a size, in a text of at most `limit` bytes.
enum TextLimit {
    /// Returns whether `count` bytes at `offset` stay within the limit. Errors: invalidArgument.
    static func fits(_ count: Int, at offset: Int64, limit: Int) throws(RecordError) -> Bool {
        guard offset >= 0, count >= 0 else {
            throw RecordError(.invalidArgument, "offsets and sizes are not negative")
        }
        return count <= limit && offset <= limit - count
    }
}

/// The bytes of a text in memory at offsets that callers choose.
extension [UInt8] {
    /// Returns the result of a read of at most `count` bytes at `offset`. At the end of the bytes
    /// and after it there is nothing.
    func bytes(at offset: Int64, count: Int) -> [UInt8] {
        guard offset >= 0, offset < self.count, count > 0 else { return [] }
        let start = Int(offset)
        return Array(self[start..<start + Swift.min(count, self.count - start)])
    }

    /// Writes `data` at `offset`, with zeros between the end and there.
    mutating func write(_ data: UnsafeRawBufferPointer, at offset: Int) {
        if offset > count { append(contentsOf: repeatElement(0, count: offset - count)) }
        let overlap = Swift.min(count - offset, data.count)
        if overlap > 0 {
            replaceSubrange(offset..<offset + overlap, with: data.prefix(overlap))
        }
        append(contentsOf: data.dropFirst(overlap))
    }

    /// Shortens the bytes, or fills them up with zeros.
    mutating func resize(to size: Int) {
        if size < count {
            removeLast(count - size)
        } else {
            append(contentsOf: repeatElement(0, count: size - count))
        }
    }
}
