package import RecordModel

/// What one commit has done to the names of asset files.
///
/// A row of `asset` stands for one content at one place: it keeps its number while its bytes stay,
/// also when they move in their list, and while they are written in place. Other bytes under the
/// same name are another row.
package struct AssetNameChanges: Hashable, Sendable {
    /// Files that do not have their name any more.
    package var former: [FormerAsset] = []
    /// The directories in which a name has come or gone.
    package var directories: Set<TypeID> = []

    package var isEmpty: Bool { former.isEmpty && directories.isEmpty }
}

/// An asset file that has lost its name: moved in its list, replaced by other bytes, or gone.
package struct FormerAsset: Hashable, Sendable {
    package let id: AssetID
    package let type: TypeID
    package let name: [UInt8]
    /// Whether its row is gone, and not only its place.
    package let isGone: Bool
}
