/// A field whose bytes are in a file beside the record's: `STEM@FIELD.EXT`, `STEM@FIELD.INDEX.EXT`.
package struct AssetValue: Hashable, Sendable {
    /// A plain file name; never a path or URL.
    package let fileName: Text
    /// In bytes.
    package let size: Int64?
    package let sha256: ContentHash?

    package init(fileName: Text, size: Int64? = nil, sha256: ContentHash? = nil) {
        self.fileName = fileName
        self.size = size
        self.sha256 = sha256
    }

    /// The parts of the file name; `asset` for every value that came out of a record's text.
    package var entryName: EntryName { EntryName(classifying: fileName.utf8) }

    /// How the file name ends, without the dot; empty when it has none.
    package var fileExtension: [UInt8] {
        guard case .asset(_, _, _, let fileExtension) = entryName else { return [] }
        return fileExtension
    }

    /// Whether both stand for the same bytes under the same name: by hash when both know it, else by name
    /// and size. A side without an ending says nothing of it, as servers that keep none.
    package func hasSameContent(as other: AssetValue) -> Bool {
        let (ending, otherEnding) = (fileExtension, other.fileExtension)
        guard ending.isEmpty || otherEnding.isEmpty || ending == otherEnding else { return false }
        if let sha256, let otherHash = other.sha256 { return sha256 == otherHash }
        guard fileName == other.fileName else { return false }
        guard let size, let otherSize = other.size else { return true }
        return size == otherSize
    }
}
