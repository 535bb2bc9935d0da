import RecordModel

/// The rows of an NDJSON file: one object a line; empty lines are skipped.
struct LineRows: ImportRows {
    private let input: TextReading
    private var buffer: [UInt8] = []
    private var at = 0
    private var isAtEnd = false
    private var line = 0
    private var consumed = 0

    let byteCount: Int?

    init(_ input: TextReading, byteCount: Int?) {
        self.input = input
        self.byteCount = byteCount
    }

    mutating func next() throws(RecordError) -> ImportRow? {
        while let bytes = try nextLine() {
            guard let last = bytes.lastIndex(where: { $0 != 0x20 && !(0x09...0x0D).contains($0) })
            else { continue }
            // Without the line end: what is missing is missing on this line.
            let content = content(Array(bytes[...last]), offset: consumed - bytes.count)
            return ImportRow(line: line, key: nil, content: content, end: consumed)
        }
        return nil
    }

    private func content(_ bytes: [UInt8], offset: Int) -> ImportRow.Content {
        do {
            let value = try JSONParser.parse(bytes)
            if let members = value.object { return .fields(members) }
            return .bad(
                RecordError(.invalidRecord, "expected an object of fields, found \(value.kind)."))
        } catch {
            return .bad(error.rebased(line: line, column: 1, offset: offset))
        }
    }

    private mutating func nextLine() throws(RecordError) -> [UInt8]? {
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
        line += 1
        consumed += bytes.count
        return bytes
    }
}
