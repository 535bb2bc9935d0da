/// What part of a file a request wants (RFC 9110 §14).
enum ByteRange: Hashable, Sendable {
    case everything
    /// First byte and number of bytes, at least one.
    case part(from: Int64, count: Int64)
    case unsatisfiable

    /// A header that is no single range of bytes is read over, as RFC 9110 allows.
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

    /// Nothing is no number; nil for what is neither.
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

    /// Without the header everything holds; a weak tag or a date never does.
    static func holds(_ tag: String, ifRange header: String?) -> Bool {
        header == nil || header == tag
    }
}
