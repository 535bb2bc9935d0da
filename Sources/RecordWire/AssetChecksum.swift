package import RecordModel

/// The checksum of an asset on the wire.
package enum AssetChecksum {
    /// Base64 of 0x01 and the first 20 bytes of the SHA-256 (Protocol, "Assets").
    package static func fileChecksum(_ hash: ContentHash) -> Text {
        Text(utf8: Base64.encode([0x01] + bytes(hash).prefix(20)))
    }

    private static func bytes(_ hash: ContentHash) -> [UInt8] {
        let digits = Array(hash.hex.utf8).map { digit in
            digit <= UInt8(ascii: "9") ? digit - UInt8(ascii: "0") : digit - UInt8(ascii: "a") + 10
        }
        return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}

extension WireAsset {
    /// Returns whether the checksum belongs to this content.
    package func isOf(_ hash: ContentHash) -> Bool {
        fileChecksum == AssetChecksum.fileChecksum(hash)
    }
}
