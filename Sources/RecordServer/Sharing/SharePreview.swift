import RecordModel
import RecordWire

/// What people see of a share before they accept it, as far as it is plain and no longer than a record may
/// be (reference §5.9).
struct SharePreview: Hashable, Sendable {
    var title: Text?
    /// What kind of thing it is; often a uniform type identifier.
    var type: Text?
    /// Whatever a client has called a thumbnail.
    var thumbnail: [UInt8]?

    /// Longer sides than any screen shows: small files of such pictures take gigabytes in a browser.
    private static let maximumThumbnailSide = 4_096

    /// Nil also for bytes that a page had better not show.
    var thumbnailFormat: ImageFormat? {
        guard let thumbnail, ImageSize(of: thumbnail)?.fits(Self.maximumThumbnailSide) == true
        else { return nil }
        return ImageFormat(of: thumbnail)
    }

    init(of record: StoredRecord) throws(ServerError) {
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
