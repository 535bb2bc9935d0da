package import RecordModel

/// The value of a field on the wire (CloudKit Web Services Reference, Types and Dictionaries).
package enum WireValue: Hashable, Sendable {
    case string(Text)
    case int64(Int64)
    case double(Double)
    /// A time since 1970-01-01T00:00:00Z.
    case timestamp(milliseconds: Int64)
    case bytes([UInt8])
    indirect case location(Location)
    indirect case reference(WireReference)
    indirect case asset(WireAsset)
    /// A list whose elements are all of one kind. An empty list has the element type of its field.
    case list([WireValue])
}

/// A field of a record: its value, type and marks. A nil value clears the field.
package struct WireField: Hashable, Sendable {
    package var name: FieldName
    package var value: WireValue?
    /// The tag of the request. Without a tag, the type from the schema or from the shape of the
    /// value. It is nil for null and for an empty list without tag.
    package var type: FieldType?
    package var isEncrypted: Bool
    /// `modified`, an extension: the writer's hybrid logical clock for this field. It is opaque,
    /// kept and echoed, at most 64 bytes.
    package var stamp: Text?
    /// An extension: indicates that the text is nested JSON, and not a text that resembles it. Kept
    /// and echoed.
    package var isJSON = false
    /// Indicates whether the type is certain: the request or the schema gave it, and it was not
    /// guessed from the JSON.
    package var isTagged = true
    /// An extension: the text as a change of the text that the field has. `value` is then nil.
    package var splice: TextSplice?

    package init(
        name: FieldName, value: WireValue?, type: FieldType?, isEncrypted: Bool = false,
        stamp: Text? = nil
    ) {
        self.name = name
        self.value = value
        self.type = type
        self.isEncrypted = isEncrypted
        self.stamp = stamp
    }
}

/// The reference dictionary.
package struct WireReference: Hashable, Sendable {
    package var name: RecordName
    package var zone: ZoneIdentifier?
    package var action: Reference.Action

    package init(name: RecordName, zone: ZoneIdentifier? = nil, action: Reference.Action = .none) {
        self.name = name
        self.zone = zone
        self.action = action
    }
}

/// The asset dictionary.
package struct WireAsset: Hashable, Sendable {
    /// Base64 of 0x01 and the first 20 bytes of the content's SHA-256.
    package var fileChecksum: Text
    /// The size in bytes.
    package var size: Int64
    package var referenceChecksum: Text?
    package var wrappingKey: Text?
    package var receipt: Text?
    package var downloadURL: Text?
    /// An extension: the whole SHA-256 of the content. The server knows it. Clients never send it.
    package var sha256: ContentHash?
    /// An extension: the end of the file's name, without the dot, for clients that show the value
    /// as a file. At most 255 bytes.
    package var fileExtension: Text?

    package init(fileChecksum: Text, size: Int64) {
        self.fileChecksum = fileChecksum
        self.size = size
    }
}
