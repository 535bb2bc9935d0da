/// A field whose bytes are in a file beside the record's: `STEM@FIELD.EXT`, `STEM@FIELD.INDEX.EXT`.
package struct AssetValue: Hashable, Sendable {
    /// A plain file name; never a path or URL.
    package let fileName: Text
    /// The size in bytes.
    package let size: Int64?
    package let sha256: ContentHash?

    package init(fileName: Text, size: Int64? = nil, sha256: ContentHash? = nil) {
        self.fileName = fileName
        self.size = size
        self.sha256 = sha256
    }

    /// The parts of the file name; `asset` for every value that was read from a record's text.
    package var entryName: EntryName { EntryName(classifying: fileName.utf8) }

    /// The end of the file name, without the dot. It is empty when the name has none.
    package var fileExtension: [UInt8] {
        guard case .asset(_, _, _, let fileExtension) = entryName else { return [] }
        return fileExtension
    }

    /// Returns whether both have the same content. Different endings are different content.
    /// Compares the hashes when both sides have one, otherwise the names and sizes. A side without
    /// an ending matches any ending, because some servers keep none.
    package func hasSameContent(as other: AssetValue) -> Bool {
        let (ending, otherEnding) = (fileExtension, other.fileExtension)
        guard ending.isEmpty || otherEnding.isEmpty || ending == otherEnding else { return false }
        if let sha256, let otherHash = other.sha256 { return sha256 == otherHash }
        guard fileName == other.fileName else { return false }
        guard let size, let otherSize = other.size else { return true }
        return size == otherSize
    }
}
