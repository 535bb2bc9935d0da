/// The sizes that a record must keep to.
package struct RecordLimits: Sendable, Hashable {
    /// All values without assets, and without the values that can become assets, in bytes.
    package var recordBytes = ServerLimits.recordBytes
    /// The size of the values in a request, without the values that can become assets, in bytes.
    package var requestBytes = ServerLimits.requestBytes - ServerLimits.requestOverheadBytes
    /// The elements of all lists together.
    package var listElements = ServerLimits.listElements
    /// The references, also those in lists.
    package var references = ServerLimits.references
    package var assets = ServerLimits.assets
    /// The size of one asset, in bytes.
    package var assetBytes = ServerLimits.assetBytes
    /// The elements of lists and the members of nested JSON, all together.
    package var nestedValues = 500_000
    /// The size in bytes above which a STRING or BYTES value is shown as a file of its own.
    package var shownValueBytes = 65_536
    /// The text of the record's file, in bytes.
    package var textBytes = RecordLimits.fileBytes

    /// The text of a record's file on this machine, in bytes. The longest value in it is about as
    /// long.
    package static let fileBytes = 64 << 20
    /// The text of a record's file that a recordfs-server keeps beside its values, in bytes.
    package static let fileTextBytes = ServerLimits.fileTextBytes

    package init() {}
    package static let standard = RecordLimits()
    /// The limits for records that the server has: this machine may not refuse them.
    package static let received = RecordLimits().asReceived

    /// The limits for records that are never sent to a server, as in zones of the database `local`.
    /// The remaining limits are those of this machine's memory.
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

    /// The limits for records that are on this machine already, or were downloaded from the server.
    package var asReceived: RecordLimits {
        var limits = withoutServer
        limits.nestedValues = .max
        // The text that is printed here may be longer than the text that was written elsewhere.
        limits.textBytes = max(textBytes, 2 * Self.fileBytes)
        return limits
    }
}
