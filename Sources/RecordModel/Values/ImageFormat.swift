/// A format of pictures that hold no scripts, links or other text. The first bytes decide it, and
/// the name and the type that a client gives do not count. The raw value is the media type.
package enum ImageFormat: String, CaseIterable, Hashable, Sendable {
    case png = "image/png"
    case jpeg = "image/jpeg"
    case webp = "image/webp"
    case gif = "image/gif"

    /// Recognises the format. Returns nil for all other bytes.
    package init?(of bytes: [UInt8]) {
        guard let format = Self.allCases.first(where: { $0.isFormat(of: bytes) }) else {
            return nil
        }
        self = format
    }

    private func isFormat(of bytes: [UInt8]) -> Bool {
        switch self {
        case .png: bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        case .jpeg: bytes.starts(with: [0xFF, 0xD8, 0xFF])
        case .webp:
            bytes.starts(with: "RIFF".utf8) && bytes.dropFirst(8).starts(with: "WEBP".utf8)
        case .gif: bytes.starts(with: "GIF87a".utf8) || bytes.starts(with: "GIF89a".utf8)
        }
    }
}
