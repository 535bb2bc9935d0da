import RecordModel

/// The rows of an NDJSON file: one object on each line, or an object over several lines as `jq`
/// prints it. Empty lines are skipped.
struct LineRows: ImportRows {
    private static let maximumRowBytes = 64 << 20

    private let input: TextReading
    private var buffer: [UInt8] = []
    private var at = 0
    private var isAtEnd = false
    private var line = 0
    private var consumed = 0
    /// Lines that were read after an object which turned out not to continue on them.
    private var waiting: [[UInt8]] = []

    let byteCount: Int?

    init(_ input: TextReading, byteCount: Int?) {
        self.input = input
        self.byteCount = byteCount
    }

    mutating func next() throws(RecordError) -> ImportRow? {
        while let first = try nextLine() {
            guard let last = first.lastIndex(where: Self.isNoSpace) else { continue }
            let start = (line: line, offset: consumed - first.count)
            let whole = try object(from: first)
            // Without the line end, so that the error for a missing part is on this line.
            let content = content(whole ?? Array(first[...last]), start)
            return ImportRow(line: start.line, key: nil, content: content, end: consumed)
        }
        return nil
    }

    private static func isNoSpace(_ byte: UInt8) -> Bool {
        byte != 0x20 && !(0x09...0x0D).contains(byte)
    }

    /// Returns the text of an object that continues after its first line. Returns nil when it ends
    /// on that line.
    private mutating func object(from first: [UInt8]) throws(RecordError) -> [UInt8]? {
        var nesting = JSONNesting()
        guard nesting.add(first), nesting.isOpen else { return nil }
        var text = first
        var more: [[UInt8]] = []
        while text.count < Self.maximumRowBytes, let next = try nextLine() {
            more.append(next)
            guard nesting.add(next) else { break }
            text += next
            if !nesting.isOpen { return text }
        }
        for bytes in more {
            line -= 1
            consumed -= bytes.count
        }
        waiting = more + waiting
        return nil
    }

    private func content(
        _ bytes: [UInt8], _ start: (line: Int, offset: Int)
    ) -> ImportRow.Content {
        do {
            let value = try JSONParser.parse(bytes)
            if let members = value.object { return .fields(members) }
            return .bad(
                RecordError(.invalidRecord, "expected an object of fields, found \(value.kind)."))
        } catch {
            return .bad(error.rebased(line: start.line, column: 1, offset: start.offset))
        }
    }

    private mutating func nextLine() throws(RecordError) -> [UInt8]? {
        if !waiting.isEmpty { return count(waiting.removeFirst()) }
        var searched = at
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                return take(upTo: end + 1)
            }
            if isAtEnd { return at < buffer.count ? take(upTo: buffer.count) : nil }
            buffer.removeFirst(at)
            at = 0
            searched = buffer.count
            let chunk = try input.chunk()
            if chunk.isEmpty { isAtEnd = true }
            buffer += chunk
        }
    }

    private mutating func take(upTo end: Int) -> [UInt8] {
        let bytes = Array(buffer[at..<end])
        at = end
        return count(bytes)
    }

    private mutating func count(_ bytes: [UInt8]) -> [UInt8] {
        line += 1
        consumed += bytes.count
        return bytes
    }
}

/// Determines from brackets whether an object continues after a line.
private struct JSONNesting {
    private var depth = 0
    private var last: UInt8 = 0

    var isOpen: Bool { depth > 0 }

    /// Adds a line. Returns false when it cannot belong to the open object: no string extends over
    /// a line's end, and no object begins where a comma is missing.
    mutating func add(_ line: [UInt8]) -> Bool {
        var isInString = false
        var isEscaped = false
        for byte in line {
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                }
                continue
            }
            switch byte {
            case 0x20, 0x09...0x0D: continue
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "{"):
                guard depth == 0 ? last == 0 : Self.canPrecede(last) else { return false }
                depth += 1
            case UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if depth < 0 { return false }
            default: break
            }
            last = byte
        }
        return !isInString
    }

    private static func canPrecede(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ",") || byte == UInt8(ascii: ":") || byte == UInt8(ascii: "[")
    }
}
