package import RecordModel

/// The changes of one commit to the names of asset files.
///
/// A row of `asset` is one content at one place. It keeps its number while its bytes stay the same,
/// even when they move in their list, and while they are written in place. Other bytes under the
/// same name are another row.
package struct AssetNameChanges: Hashable, Sendable {
    /// Files that no longer have their name.
    package var former: [FormerAsset] = []
    /// The directories in which a name was added or removed.
    package var directories: Set<TypeID> = []

    package var isEmpty: Bool { former.isEmpty && directories.isEmpty }
}

/// An asset file that has lost its name: moved in its list, replaced by other bytes, or removed.
package struct FormerAsset: Hashable, Sendable {
    package let id: AssetID
    package let type: TypeID
    package let name: [UInt8]
    /// Indicates whether its row was deleted, and not only its place changed.
    package let isGone: Bool
}
