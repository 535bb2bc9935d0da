import RecordModel
import RecordServerCore
package import RecordWire

/// The picture on the pages of a server. It is one of a few kinds that run no scripts, whatever its
/// name says.
package struct Logo: Hashable, Sendable {
    package let kind: Kind
    package let bytes: [UInt8]
    /// The path of the picture on the server. Another picture has another path.
    let path: String

    package static let maximumBytes = 256 << 10

    package enum Kind: String, CaseIterable, Sendable {
        case png, jpg, webp

        var fileName: String { "logo.\(rawValue)" }
        fileprivate var format: ImageFormat {
            switch self {
            case .png: .png
            case .jpg: .jpeg
            case .webp: .webp
            }
        }
    }

    /// Checks the content. Errors: `badRequest` when it is not of the kind, or too large.
    package init(_ bytes: [UInt8], kind: Kind) throws(ServerError) {
        guard bytes.count <= Self.maximumBytes else {
            throw Self.fault(kind, "is larger than \(Self.maximumBytes >> 10) KiB")
        }
        guard ImageFormat(of: bytes) == kind.format else {
            throw Self.fault(kind, "has no \(kind.format.rawValue) in it")
        }
        self.kind = kind
        self.bytes = bytes
        let digest = SHA256.digest(of: bytes).prefix(8)
        path = "/logo?v=" + digest.map { String($0, radix: 16) }.joined()
    }

    private static func fault(_ kind: Kind, _ what: String) -> ServerError {
        ServerError(
            .badRequest,
            "The logo \(kind.fileName) of the data directory \(what). It has to be a PNG, JPEG or "
                + "WebP image of at most \(maximumBytes >> 10) KiB.")
    }

    /// The headers of the answer of `/logo`.
    var headers: [PageResponse.Header] {
        PageResponse.imageHeaders(kind.format, caching: "public, max-age=86400")
    }
}

extension DataDirectory {
    /// Returns `logo.png`, `logo.jpg` or `logo.webp`, or nil without one.
    ///
    /// Errors are for the operator: more than one, no regular file, too large, of another kind.
    package func logo() throws(ServerError) -> Logo? {
        var found: Logo?
        for kind in Logo.Kind.allCases {
            guard let bytes = try smallFile(kind.fileName, limit: Logo.maximumBytes)
            else { continue }
            guard found == nil else {
                throw ServerError(
                    .badRequest, "There is more than one logo in the data directory \(path).")
            }
            found = try Logo(bytes, kind: kind)
        }
        return found
    }
}
