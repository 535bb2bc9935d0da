package import RecordModel
import RecordWire

/// A picture for a share: a bitmap that every browser shows.
package struct ShareThumbnail: Hashable, Sendable {
    /// The largest thumbnail that this program sets, in bytes: each participant downloads it with
    /// the share. Apple's limit is the limit of a record, 1 000 000 bytes, and thumbnails of others
    /// are read up to that size.
    package static let bytesMax = 256 << 10

    package let bytes: [UInt8]

    /// Checks the bytes. Errors: tooLarge, and invalidRecord for bytes that are not a picture.
    package init(_ bytes: [UInt8]) throws(RecordError) {
        guard bytes.count <= Self.bytesMax else {
            throw RecordError(
                .tooLarge,
                "a thumbnail has at most \(Self.bytesMax >> 10) KiB, and this is larger. Make the "
                    + "picture smaller.")
        }
        guard ImageFormat(of: bytes) != nil else {
            throw RecordError(
                .invalidRecord, "a thumbnail is a PNG, JPEG, WebP or GIF picture, and this is none."
            )
        }
        self.bytes = bytes
    }

    /// Reads `{"$bytes": "…"}`, the form of bytes in the field of a record. Errors also:
    /// invalidRecord for another value.
    init(_ json: JSONValue) throws(RecordError) {
        guard json.object?.count == 1, let text = json["$bytes"]?.string,
            let bytes = Base64.decode(text.utf8)
        else {
            throw RecordError(
                .invalidRecord,
                "a thumbnail is written as {\"$bytes\": \"…\"} with base64 of a picture, or null.")
        }
        try self.init(bytes)
    }

    var json: JSONValue { ["$bytes": .string(Text(utf8: Base64.encode(bytes)))] }

    /// Returns the description of a thumbnail in the file of a share, for a thumbnail of any
    /// participant. The bytes themselves would be a thousand times as long as the rest of the file.
    static func description(of bytes: [UInt8]) -> JSONValue {
        var members: [JSONMember] = []
        if let format = ImageFormat(of: bytes) {
            members.append(JSONMember(key: "type", value: JSONValue(format.rawValue)))
        }
        members.append(JSONMember(key: "size", value: JSONValue(Int64(bytes.count))))
        members.append(
            JSONMember(key: "sha256", value: .string(Text(SHA256.hash(bytes).hex))))
        return .object(members)
    }
}

/// The members of a share that people see before they accept it, besides its title.
extension ShareEdit {
    /// Another value, or none.
    package enum Change<Value: Hashable & Sendable>: Hashable, Sendable {
        case value(Value)
        case removal

        var value: Value? { if case .value(let value) = self { value } else { nil } }
    }

    /// Checks the type of a share. Errors: invalidRecord.
    package static func type(_ text: Text) throws(RecordError) -> Text {
        guard (1...255).contains(text.utf8.count) else {
            throw RecordError(
                .invalidRecord,
                "the type of a share has 1 to 255 bytes, such as public.folder.")
        }
        return text
    }

    /// Reads `{"type": …, "thumbnail": {"$bytes": …}}`. Null removes a member, and a missing member
    /// stays unchanged.
    ///
    /// Errors: invalidRecord, tooLarge.
    mutating func readAppearance(_ json: JSONValue) throws(RecordError) {
        switch json["type"] {
        case nil: break
        case .null?: type = .removal
        case let value?:
            guard let text = value.string else {
                throw RecordError(.invalidRecord, "type is a string, or null.")
            }
            type = .value(try Self.type(text))
        }
        switch json["thumbnail"] {
        case nil: break
        case .null?: thumbnail = .removal
        case let value?: thumbnail = .value(try ShareThumbnail(value))
        }
    }

    var appearanceMembers: [JSONMember] {
        var members: [JSONMember] = []
        if let type {
            members.append(
                JSONMember(key: "type", value: type.value.map { .string($0) } ?? .null))
        }
        if let thumbnail {
            members.append(
                JSONMember(key: "thumbnail", value: thumbnail.value?.json ?? .null))
        }
        return members
    }

    /// The fields of the share's record that are to change.
    var fields: [WireField] {
        var fields: [WireField] = []
        if let title {
            fields.append(WireField(name: .shareTitle, value: .string(title), type: .string))
        }
        if let type {
            fields.append(
                WireField(
                    name: .shareType, value: type.value.map { .string($0) }, type: .string))
        }
        if let thumbnail {
            fields.append(
                WireField(
                    name: .shareThumbnail, value: thumbnail.value.map { .bytes($0.bytes) },
                    type: .bytes))
        }
        return fields
    }
}
