/// Reads tagged values: objects with a key that begins with `$`.
struct TagReader {
    /// The name of the field, for messages.
    let field: FieldName

    static func isTagged(_ members: [JSONMember]) -> Bool {
        members.contains { isReserved($0.key) }
    }

    private static func isReserved(_ key: Text) -> Bool { key.utf8.first == UInt8(ascii: "$") }

    func read(_ members: [JSONMember]) throws(ValueError) -> FieldValue {
        guard let index = members.firstIndex(where: { Self.isReserved($0.key) }) else {
            throw ValueError(.invalidRecord, "expected a key that begins with $")
        }
        let tag = members[index]
        let others = try others(of: tag.key, members, index)
        do throws(ValueError) {
            switch tag.key {
            case "$timestamp": return .timestamp(milliseconds: try timestamp(tag.value))
            case "$bytes": return .bytes(try Self.bytes(try text(tag), field))
            case "$location": return .location(try LocationReader(field: field).read(tag.value))
            case "$ref": return .reference(try reference(try text(tag), others))
            default: return .asset(try asset(try text(tag), others))
            }
        } catch {
            throw error.path.isEmpty ? error.inside(.member(index)) : error
        }
    }

    /// Returns the members beside the tag, by key. An unknown one is refused.
    private func others(
        of tag: Text, _ members: [JSONMember], _ tagIndex: Int
    ) throws(ValueError) -> [(index: Int, member: JSONMember)] {
        let known: [Text]
        switch tag {
        case "$timestamp", "$bytes", "$location": known = []
        case "$ref": known = ["zone", "action"]
        case "$asset": known = ["size", "sha256"]
        default:
            throw ValueError(
                .invalidRecord,
                "unknown key \"\(tag)\" in field \"\(field)\": keys that begin with $ are tags, one "
                    + "of $timestamp, $bytes, $location, $ref, $asset", at: .key(tagIndex))
        }
        var others: [(index: Int, member: JSONMember)] = []
        for (index, member) in members.enumerated() where index != tagIndex {
            guard known.contains(member.key) else {
                throw ValueError(
                    .invalidRecord,
                    "unknown key \"\(member.key)\" beside \"\(tag)\" in field \"\(field)\"; "
                        + "remove it", at: .key(index))
            }
            if !member.value.isNull { others.append((index, member)) }
        }
        return others
    }

    private func text(_ member: JSONMember) throws(ValueError) -> Text {
        guard case .string(let text) = member.value else {
            throw ValueError(
                .invalidRecord,
                "\"\(member.key)\" in field \"\(field)\" takes a string, and this is "
                    + member.value.kind)
        }
        return text
    }

    private func timestamp(_ value: JSONValue) throws(ValueError) -> Int64 {
        guard case .string(let text) = value else {
            throw Self.noDate(field, value.kind)
        }
        guard let milliseconds = ISO8601.parse(text.utf8) else {
            throw Self.noDate(field, "\"\(text)\"")
        }
        return milliseconds
    }

    private func reference(
        _ name: Text, _ others: [(index: Int, member: JSONMember)]
    ) throws(ValueError) -> Reference {
        var zone: ZoneName?
        var action = Reference.Action.none
        for (index, member) in others {
            guard case .string(let text) = member.value else {
                throw ValueError(
                    .invalidRecord, "\"\(member.key)\" takes a string", at: .member(index))
            }
            if member.key == "zone" {
                zone = ZoneName(bytes: text.utf8)
                guard zone?.isValid == true else {
                    throw ValueError(
                        .invalidRecord, "\"\(text)\" is no name of a zone", at: .member(index))
                }
            } else {
                guard let known = Reference.Action(rawValue: text.string) else {
                    throw ValueError(
                        .invalidRecord,
                        "unknown action \"\(text)\"; write NONE, DELETE_SELF or VALIDATE",
                        at: .member(index))
                }
                action = known
            }
        }
        return Reference(name: try Self.recordName(name, field), zone: zone, action: action)
    }

    private func asset(
        _ fileName: Text, _ others: [(index: Int, member: JSONMember)]
    ) throws(ValueError) -> AssetValue {
        var size: Int64?
        var sha256: ContentHash?
        for (index, member) in others {
            if member.key == "size" {
                guard let value = member.value.int64, value >= 0 else {
                    throw ValueError(
                        .invalidRecord, "\"size\" takes a number of bytes", at: .member(index))
                }
                size = value
            } else {
                guard let hash = member.value.string.flatMap(ContentHash.init(digits:)) else {
                    throw ValueError(
                        .invalidRecord, "\"sha256\" takes 64 hexadecimal digits in quotes",
                        at: .member(index))
                }
                sha256 = hash
            }
        }
        let name = try Self.assetName(fileName, field)
        return AssetValue(fileName: name, size: size, sha256: sha256)
    }
}
