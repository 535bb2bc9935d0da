/// The parts that tagged and plain forms have in common.
extension TagReader {
    static func timestamp(_ text: Text, _ field: FieldName) throws(ValueError) -> Int64 {
        guard let milliseconds = ISO8601.parse(text.utf8) else {
            throw noDate(field, "\"\(text)\"", .schemaMismatch)
        }
        return milliseconds
    }

    static func noDate(
        _ field: FieldName, _ found: String, _ code: RecordError.Code = .invalidRecord
    ) -> ValueError {
        ValueError(
            code,
            "field \"\(field)\" takes a date like \"2026-11-20T10:00:00.000Z\", and this is "
                + found)
    }

    static func bytes(_ text: Text, _ field: FieldName) throws(ValueError) -> [UInt8] {
        guard let bytes = Base64.decode(text.utf8) else {
            throw ValueError(
                .invalidRecord,
                "field \"\(field)\" takes bytes in base 64, padded with = and without line breaks")
        }
        return bytes
    }

    static func recordName(_ text: Text, _ field: FieldName) throws(ValueError) -> RecordName {
        guard !text.isEmpty else {
            throw ValueError(
                .invalidRecord, "the reference in field \"\(field)\" names no record")
        }
        return RecordName(bytes: text.utf8)
    }

    /// Reads a file name beside the record's, never a path: the text may come from another user.
    static func assetName(_ text: Text, _ field: FieldName) throws(ValueError) -> Text {
        if text.utf8.count <= AssetValue.maximumNameBytes,
            !text.utf8.contains(UInt8(ascii: "/")), !NameCodec.holdsControls(text.utf8),
            case .asset = EntryName(classifying: text.utf8)
        {
            return text
        }
        throw ValueError(
            .invalidRecord,
            "the asset in field \"\(field)\" must be the name of a file beside the record, like "
                + "\"NAME@\(field).EXT\"; paths and addresses are not followed")
    }

    /// Refuses an object that looks like a tag inside a JSON value. It would be lost in a text.
    static func refuseTags(in json: JSONValue) throws(ValueError) {
        switch json {
        case .object(let members):
            for (index, member) in members.enumerated() {
                if isTagged([member]) {
                    throw ValueError(
                        .invalidRecord,
                        "the key \"\(member.key)\" cannot stand inside a JSON value: keys that "
                            + "begin with $ are tags of whole fields and of lists of one kind",
                        at: .key(index))
                }
                do throws(ValueError) {
                    try refuseTags(in: member.value)
                } catch {
                    throw error.inside(.member(index))
                }
            }
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                do throws(ValueError) {
                    try refuseTags(in: element)
                } catch {
                    throw error.inside(.element(index))
                }
            }
        default: break
        }
    }
}

extension AssetValue {
    /// The longest name that one directory entry can hold.
    static let maximumNameBytes = 255
}

extension ContentHash {
    /// Creates the hash from 64 hexadecimal digits in either case.
    package init?(digits text: Text) {
        guard text.utf8.count == 64 else { return nil }
        var hex: [UInt8] = []
        for byte in text.utf8 {
            guard let value = HexadecimalDigit.value(byte) else { return nil }
            hex.append(HexadecimalDigit.lowercase[Int(value)])
        }
        self.init(hex: String(decoding: hex, as: UTF8.self))
    }
}
