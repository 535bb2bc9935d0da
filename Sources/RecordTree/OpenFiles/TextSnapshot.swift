import RecordModel
import RecordStore

/// A text in the form that a save takes.
struct TextSnapshot {
    let file: RecordFile
    let isInStore: Bool
    let type: TypeID
    let stem: Stem
    let text: [UInt8]
    let base: [UInt8]?
    let replacesUnseen: Bool
    let version: Int
    let modified: Timestamp
    let changed: Timestamp
    let programs: Set<Int32>
}
