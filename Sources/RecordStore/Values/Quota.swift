package import RecordModel

/// How much room the zones of one owner have, as the server last told it.
package struct Quota: Hashable, Sendable {
    /// As the server names the owner; `me` for the account's own.
    package let owner: OwnerName
    /// In bytes; nil where it is not told.
    package let totalBytes: Int64?
    /// In bytes.
    package let freeBytes: Int64

    package init(owner: OwnerName, totalBytes: Int64?, freeBytes: Int64) {
        self.owner = owner
        self.totalBytes = totalBytes
        self.freeBytes = freeBytes
    }
}
