/// The sizes that a record must keep to.
package struct RecordLimits: Sendable, Hashable {
    /// All values without assets, nor those that can become assets, in bytes.
    package var recordBytes = ServerLimits.recordBytes
    /// What the values take in a request, without those that can become assets, in bytes.
    package var requestBytes = ServerLimits.requestBytes - ServerLimits.requestOverheadBytes
    /// The elements of all lists together.
    package var listElements = ServerLimits.listElements
    /// Also those in lists.
    package var references = ServerLimits.references
    package var assets = ServerLimits.assets
    /// Of one asset, in bytes.
    package var assetBytes = ServerLimits.assetBytes
    /// The elements of lists and the members of nested JSON, all together.
    package var nestedValues = 500_000
    /// A STRING or BYTES value over this is shown as a file of its own.
    package var shownValueBytes = 65_536
    /// The text of the record's file.
    package var textBytes = RecordLimits.fileBytes

    /// The text of a record's file here, and so about the longest value in it.
    package static let fileBytes = 64 << 20
    /// The text of a record's file that a recordfs-server keeps beside its values.
    package static let fileTextBytes = ServerLimits.fileTextBytes

    package init() {}
    package static let standard = RecordLimits()
    /// For what the server has: it is not ours to refuse.
    package static let received = RecordLimits().asReceived

    /// For what no server has to take, as in zones of the database `local`. The limits that are left are
    /// those of this machine's memory.
    package var withoutServer: RecordLimits {
        var limits = self
        limits.recordBytes = .max
        limits.requestBytes = .max
        limits.listElements = .max
        limits.references = .max
        limits.assets = .max
        limits.assetBytes = .max
        return limits
    }

    /// For what is here already, or came from the server.
    package var asReceived: RecordLimits {
        var limits = withoutServer
        limits.nestedValues = .max
        // As it is printed here it may be longer than it was written elsewhere.
        limits.textBytes = max(textBytes, 2 * Self.fileBytes)
        return limits
    }
}
