/// The part of a file that a request wants (RFC 9110, section 14).
enum ByteRange: Hashable, Sendable {
    case everything
    /// The first byte and the number of bytes, at least one.
    case part(from: Int64, count: Int64)
    case unsatisfiable

    /// Reads a header. A header that is no single range of bytes is ignored, as RFC 9110 allows.
    init(_ header: String?, size: Int64) {
        self = .everything
        guard let header, let range = Self.single(header) else { return }
        switch range {
        case (nil, let suffix?):
            let count = min(suffix, size)
            self = count > 0 ? .part(from: size - count, count: count) : .unsatisfiable
        case (let first?, let last):
            if let last, last < first { return }
            guard first < size else {
                self = .unsatisfiable
                return
            }
            self = .part(from: first, count: min(last ?? size, size - 1) - first + 1)
        case (nil, nil): return
        }
    }

    private static func single(_ header: String) -> (first: Int64?, last: Int64?)? {
        let parts = header.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
        let ends = parts[1].split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2, let first = number(ends[0]), let last = number(ends[1]) else {
            return nil
        }
        return (first.value, last.value)
    }

    /// Reads a number. Empty text gives a value of nil. Returns nil for text that is neither empty
    /// nor a number.
    private static func number(_ text: Substring) -> (value: Int64?, Void)? {
        let trimmed = text.drop { $0 == " " }
        if trimmed.isEmpty { return (nil, ()) }
        guard trimmed.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        // A number that does not fit is past the end of every file.
        return (Int64(trimmed) ?? .max, ())
    }
}

/// Entity tags of `If-None-Match` and `If-Range`.
enum EntityTag {
    static func isListed(_ tag: String, in header: String?) -> Bool {
        guard let header else { return false }
        return header.split(separator: ",").contains { entry in
            var entry = entry.drop { $0 == " " }
            while entry.last == " " { entry = entry.dropLast() }
            if entry == "*" { return true }
            return (entry.hasPrefix("W/") ? entry.dropFirst(2) : entry) == tag
        }
    }

    /// Returns whether the condition holds. Without the header it always holds; with a weak tag or
    /// a date it never does.
    static func holds(_ tag: String, ifRange header: String?) -> Bool {
        header == nil || header == tag
    }
}
