import Glibc
package import RecordWire

/// Reads a `multipart/form-data` body in pieces as they arrive (RFC 7578, RFC 2046, section 5.1).
///
/// Content is passed on as soon as it cannot belong to a boundary, so that no part is ever held as
/// a whole. The rest (preamble, headers, boundaries, epilogue) is bounded.
package struct MultipartReader {
    enum Event: Equatable {
        /// The beginning of a part.
        case part(hasFileName: Bool)
        /// Bytes of the part that began last.
        case content([UInt8])
    }

    private enum State { case preamble, afterBoundary, headers, content, epilogue }

    /// The most bytes besides the contents of parts.
    static let maximumEnvelopeBytes = 64 << 10

    /// The delimiter: CRLF, two hyphens and the boundary.
    private let delimiter: [UInt8]
    private var state = State.preamble
    /// The bytes that were not looked at yet. The first boundary needs no CRLF before it.
    private var rest: [UInt8] = [13, 10]
    private var envelopeBytes = 0

    /// Makes a reader. Returns nil for a type that is not multipart.
    ///
    /// - Throws: badRequest for other kinds of multipart, and without a usable boundary.
    package init?(contentType: String?) throws(ServerError) {
        guard let header = contentType.map({ HeaderParameters($0) }),
            header.value.hasPrefix("multipart/")
        else { return nil }
        guard header.value == "multipart/form-data" else {
            throw Self.malformed("send the bytes alone, or a form of multipart/form-data.")
        }
        guard let boundary = header["boundary"], (1...70).contains(boundary.utf8.count) else {
            throw Self.malformed("its Content-Type has no boundary of 1 to 70 characters.")
        }
        delimiter = [13, 10, 45, 45] + Array(boundary.utf8)
    }

    /// Returns the events in the next bytes of the body.
    mutating func read(_ bytes: some Sequence<UInt8>) throws(ServerError) -> [Event] {
        rest.append(contentsOf: bytes)
        var events: [Event] = []
        while try step(&events) {}
        return events
    }

    /// Checks the end. Call it when the body has ended.
    func finish() throws(ServerError) {
        guard state == .epilogue else {
            throw Self.malformed("it ends before its closing boundary.")
        }
    }

    /// Takes one step. Returns false when more bytes are needed.
    private mutating func step(_ events: inout [Event]) throws(ServerError) -> Bool {
        switch state {
        case .preamble:
            let (before, isFound) = takeToDelimiter()
            try charge(before.count)
            if isFound { state = .afterBoundary }
            return isFound
        case .afterBoundary: return try readLineEnd()
        case .headers: return try readHeaders(&events)
        case .content:
            let (content, isFound) = takeToDelimiter()
            if !content.isEmpty { events.append(.content(content)) }
            if isFound { state = .afterBoundary }
            return isFound
        case .epilogue:
            try charge(rest.count)
            rest.removeAll()
            return false
        }
    }

    /// Reads the end of a boundary's line: two hyphens after the last boundary, otherwise white
    /// space and CRLF.
    private mutating func readLineEnd() throws(ServerError) -> Bool {
        if rest.starts(with: [45, 45]) {
            state = .epilogue
            return true
        }
        guard let end = rest.firstIndex(of: 10) else {
            guard rest.count < 256 else { throw Self.malformed("a boundary's line has no end.") }
            return false
        }
        guard end > 0, rest[end - 1] == 13,
            rest[..<(end - 1)].allSatisfy({ $0 == 0x20 || $0 == 0x09 })
        else { throw Self.malformed("a boundary is followed by something else on its line.") }
        try charge(delimiter.count + end + 1)
        // The CRLF stays, so that a part without headers ends them like the others.
        rest.removeFirst(end - 1)
        state = .headers
        return true
    }

    private mutating func readHeaders(_ events: inout [Event]) throws(ServerError) -> Bool {
        guard let end = rest.firstRange(of: [13, 10, 13, 10]) else {
            guard rest.count <= Self.maximumEnvelopeBytes else { throw Self.tooLarge }
            return false
        }
        try charge(end.upperBound)
        let lines = String(decoding: rest[..<end.lowerBound], as: UTF8.self)
            .split(separator: "\r\n")
        rest.removeFirst(end.upperBound)
        state = .content
        var hasFileName = false
        for line in lines {
            let name = line.prefix { $0 != ":" }
            let value = HeaderParameters(String(line.dropFirst(name.count + 1)))
            switch name.lowercased() {
            case "content-disposition":
                hasFileName = value["filename"] != nil || value["filename*"] != nil
            case "content-transfer-encoding":
                guard ["binary", "8bit", "7bit"].contains(value.value) else {
                    throw Self.malformed("a part has a Content-Transfer-Encoding; send bytes.")
                }
            default: break
            }
        }
        events.append(.part(hasFileName: hasFileName))
        return true
    }

    /// Removes and returns the bytes before the next delimiter. The delimiter is removed too if it
    /// is there. Without it, only bytes that cannot be part of one are returned.
    private mutating func takeToDelimiter() -> (before: [UInt8], isFound: Bool) {
        if let start = positionOfDelimiter() {
            defer { rest.removeFirst(start + delimiter.count) }
            return (Array(rest[..<start]), true)
        }
        let count = max(0, rest.count - delimiter.count + 1)
        defer { rest.removeFirst(count) }
        return (Array(rest[..<count]), false)
    }

    private func positionOfDelimiter() -> Int? {
        rest.withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress else { return nil }
            var start = 0
            while let found = memchr(base + start, 13, buffer.count - start) {
                let at = UnsafeRawPointer(found) - base
                if buffer[at...].starts(with: delimiter) { return at }
                start = at + 1
            }
            return nil
        }
    }

    private mutating func charge(_ bytes: Int) throws(ServerError) {
        envelopeBytes += bytes
        guard envelopeBytes <= Self.maximumEnvelopeBytes else { throw Self.tooLarge }
    }

    private static let tooLarge = malformed(
        "it has more than \(maximumEnvelopeBytes) bytes besides its parts.")

    private static func malformed(_ what: String) -> ServerError {
        ServerError(.badRequest, "The multipart body cannot be read: \(what)")
    }
}
