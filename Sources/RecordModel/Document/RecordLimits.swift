/// The sizes that a record must keep to.
package struct RecordLimits: Sendable, Hashable {
    /// All values without assets, nor those that can become assets, in bytes.
    package var recordBytes = 1_000_000
    /// The elements of lists and the members of nested JSON, all together.
    package var nestedValues = 500_000
    /// A STRING or BYTES value over this is shown as a file of its own.
    package var shownValueBytes = 65_536
    /// The text of the record's file.
    package var textBytes = 64 << 20

    /// The text of a record's file that a recordfs-server keeps beside its values.
    package static let fileTextBytes = 1_000_000

    package init() {}
    package static let standard = RecordLimits()
    /// For what the server has: it is not ours to refuse.
    package static let received: RecordLimits = {
        var limits = RecordLimits()
        limits.recordBytes = .max
        return limits
    }()
}
