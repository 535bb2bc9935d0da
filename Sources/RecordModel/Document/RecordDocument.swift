/// One parsed record file.
///
/// The text stays byte for byte as it was written; values are read out of it beside.
package struct RecordDocument: Sendable {
    package let text: [UInt8]
    /// In the order of the file; members that are null are left out.
    package internal(set) var fields: [RecordField]
    /// The parent in the record hierarchy.
    package let parent: RecordName?
    /// Where the root's members are in the text, null ones and `$parent` included.
    let members: [MemberSpan]
    let root: Range<Int>

    /// Errors: `invalidJSON`, `invalidRecord`, `schemaMismatch` with position, `tooLarge`; the
    /// message names the field and what to write instead.
    package init(
        parsing text: [UInt8], schema: RecordSchema, limits: RecordLimits = .standard
    ) throws(RecordError) {
        guard text.count <= limits.textBytes else {
            throw RecordError(
                .tooLarge,
                "the text has \(text.count) bytes, and a record's file at most \(limits.textBytes)")
        }
        let parsed = try ParsedRoot(text, limits)
        var reader = MemberReader(text: text, schema: schema)
        for member in parsed.members { try reader.read(member) }
        self.text = text
        fields = reader.fields
        parent = reader.parent
        members = reader.spans
        root = parsed.range
        try checkSize(limits)
    }

    package subscript(name: FieldName) -> FieldValue? {
        fields.first { $0.name == name }?.value
    }

    /// Its values alone, to compare others with: of a large document the text is as much again.
    package var withoutText: RecordDocument {
        RecordDocument(text: [], fields: fields, parent: parent, members: [], root: 0..<0)
    }

    private init(
        text: [UInt8], fields: [RecordField], parent: RecordName?, members: [MemberSpan],
        root: Range<Int>
    ) {
        self.text = text
        self.fields = fields
        self.parent = parent
        self.members = members
        self.root = root
    }
}

/// Where a member of the root object is in the text, in bytes.
struct MemberSpan: Sendable {
    let name: FieldName
    /// With its quotes.
    let key: Range<Int>
    let value: Range<Int>
    /// See `ValueReader.Reading.isPlain`.
    let isPlain: Bool
}

/// The root object with the places of its members.
struct ParsedRoot {
    struct Member {
        let key: Text
        let keyRange: Range<Int>
        let value: JSONValue
        let valueRange: Range<Int>
    }

    private(set) var members: [Member] = []
    /// From `{` to behind `}`.
    let range: Range<Int>

    /// Errors: `invalidJSON`; `tooLarge` for more nested values than a record can hold.
    init(_ text: [UInt8], _ limits: RecordLimits) throws(RecordError) {
        var scanner = JSONScanner(text, allowance: JSONAllowance(limits))
        try scanner.skipByteOrderMark()
        scanner.skipWhitespace()
        let start = scanner.at
        guard scanner.byte == UInt8(ascii: "{") else {
            // What is not even JSON is told so first.
            let root = try JSONParser.parse(text, keeping: .nothing)
            throw RecordError(
                .invalidRecord, "a record is an object in { }, and this is \(root.kind)",
                at: TextPosition(offset: start, in: text))
        }
        scanner.at += 1
        scanner.skipWhitespace()
        var tooLarge: Text?
        if scanner.byte == UInt8(ascii: "}") {
            scanner.at += 1
        } else {
            tooLarge = try Self.read(&members, &scanner)
        }
        range = start..<scanner.at
        try scanner.end()
        if let tooLarge {
            throw RecordError(
                .tooLarge,
                "a record holds at most \(limits.recordBytes) bytes of numbers, and "
                    + "\(limits.nestedValues) values, in lists and nested JSON; field "
                    + "\"\(tooLarge)\" goes over it, make it an asset")
        }
    }

    /// Gives the key of the member that goes over the scanner's allowance.
    private static func read(
        _ members: inout [Member], _ scanner: inout JSONScanner
    ) throws(RecordError) -> Text? {
        members.reserveCapacity(16)
        var tooLarge: Text?
        var keys = KeySet()
        while true {
            let keyStart = scanner.at
            let key = try scanner.key(&keys)
            let keyRange = keyStart..<scanner.at
            try scanner.colon()
            let valueStart = scanner.at
            let value = try scanner.value(depth: 2)
            if scanner.allowance.isExceeded, tooLarge == nil { tooLarge = key }
            members.append(
                Member(
                    key: key, keyRange: keyRange, value: value,
                    valueRange: valueStart..<scanner.at))
            scanner.skipWhitespace()
            if scanner.byte == UInt8(ascii: "}") { break }
            try scanner.comma("\",\" or \"}\" after the value", before: UInt8(ascii: "}"))
        }
        scanner.at += 1
        return tooLarge
    }
}

extension JSONAllowance {
    fileprivate init(_ limits: RecordLimits) {
        self.init(bytes: limits.recordBytes, values: limits.nestedValues)
    }
}
