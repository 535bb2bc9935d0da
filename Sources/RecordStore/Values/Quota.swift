package import RecordModel

/// The space that the zones of one owner have, as the server last reported it.
package struct Quota: Hashable, Sendable {
    /// The owner, as the server names them; `me` for the account's own zones.
    package let owner: OwnerName
    /// The total space in bytes. Nil where the server does not report it.
    package let totalBytes: Int64?
    /// The free space in bytes.
    package let freeBytes: Int64

    package init(owner: OwnerName, totalBytes: Int64?, freeBytes: Int64) {
        self.owner = owner
        self.totalBytes = totalBytes
        self.freeBytes = freeBytes
    }
}
