/// One parsed record file.
///
/// The text stays byte for byte as it was written. The values are read out of it separately.
package struct RecordDocument: Sendable {
    package let text: [UInt8]
    /// The fields in the order of the file, without members that are null.
    package internal(set) var fields: [RecordField]
    /// The parent in the record hierarchy.
    package let parent: RecordName?
    /// The names in the to-many relationships that the text has. Other records have the keys.
    package let lists: [FieldName: [RecordName]]
    /// The places of the root's members in the text, including null ones and `$parent`.
    let members: [MemberSpan]
    /// The names and forms of the members.
    let mapping: MemberMapping?
    let root: Range<Int>

    /// Parses the text.
    ///
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
        try reader.addConstant()
        mapping = schema.mapping
        self.text = text
        fields = reader.fields
        parent = reader.parent
        members = reader.spans
        lists = reader.lists
        root = parsed.range
        try checkSize(limits)
    }

    package subscript(name: FieldName) -> FieldValue? {
        fields.first { $0.name == name }?.value
    }

    /// Returns the place of the key of a field in the text. Nil when the text does not have it.
    package func position(ofKey field: FieldName) -> TextPosition? {
        members.first { $0.name == field }.map {
            TextPosition(offset: $0.key.lowerBound, in: text)
        }
    }

    /// The document with its values alone, for comparisons. The text of a large document would take
    /// as much memory again.
    package var withoutText: RecordDocument {
        RecordDocument(
            text: [], fields: fields, parent: parent, members: [], lists: lists, mapping: mapping,
            root: 0..<0)
    }

    private init(
        text: [UInt8], fields: [RecordField], parent: RecordName?, members: [MemberSpan],
        lists: [FieldName: [RecordName]], mapping: MemberMapping?, root: Range<Int>
    ) {
        self.text = text
        self.fields = fields
        self.parent = parent
        self.members = members
        self.lists = lists
        self.mapping = mapping
        self.root = root
    }
}

/// The place of a member of the root object in the text, in bytes.
struct MemberSpan: Sendable {
    let name: FieldName
    /// The range of the key, with its quotes.
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
    /// The range from `{` to the end of `}`.
    let range: Range<Int>

    /// Parses the root object.
    ///
    /// Errors: `invalidJSON`; `tooLarge` for more nested values than a record can hold.
    init(_ text: [UInt8], _ limits: RecordLimits) throws(RecordError) {
        var scanner = JSONScanner(text, allowance: JSONAllowance(limits))
        try scanner.skipByteOrderMark()
        scanner.skipWhitespace()
        let start = scanner.at
        guard scanner.byte == UInt8(ascii: "{") else {
            // Report first when the text is not even JSON.
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

    /// Reads the members. Returns the key of the member that exceeds the scanner's allowance.
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
