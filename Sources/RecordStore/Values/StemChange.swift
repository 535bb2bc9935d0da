package import RecordModel

/// A record that is shown under another name since a commit.
package struct StemChange: Hashable, Sendable {
    package let type: TypeID
    package let record: RecordID
    package let former: Stem
    package let stem: Stem
}
