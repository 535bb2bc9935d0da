package import RecordModel
package import RecordWire

/// The preview of a share before somebody accepts it, as far as its fields are not encrypted and
/// are no longer than a record may be (Protocol, "Sharing").
package struct SharePreview: Hashable, Sendable {
    package var title: Text?
    /// The kind of thing that is shared, often a uniform type identifier.
    package var type: Text?
    /// The bytes that a client has stored as a thumbnail.
    package var thumbnail: [UInt8]?

    /// The longest side of a thumbnail, longer than any screen shows. Small files of larger
    /// pictures can take gigabytes in a browser.
    private static let maximumThumbnailSide = 4_096

    /// The format of the thumbnail. It is also nil for bytes that a page should not show.
    package var thumbnailFormat: ImageFormat? {
        guard let thumbnail, ImageSize(of: thumbnail)?.fits(Self.maximumThumbnailSide) == true
        else { return nil }
        return ImageFormat(of: thumbnail)
    }

    package init(of record: StoredRecord) throws(ServerError) {
        for field in try FieldsCodec.decode(record.fields) where !field.isEncrypted {
            switch (field.name, field.value) {
            case (.shareTitle, .string(let text)?) where !text.isEmpty: title = text
            case (.shareType, .string(let text)?) where !text.isEmpty: type = text
            case (.shareThumbnail, .bytes(let bytes)?): thumbnail = bytes
            default: break
            }
        }
    }
}
