import RecordModel
import RecordStore

/// The state of an open record.
struct OpenRecordState {
    var file: RecordFile
    var type: TypeID
    var stem: Stem
    /// Indicates whether the store has a row for it: a record, or a draft of one.
    var isInStore: Bool
    /// The text that the file shows. Nil before the first read or write.
    var text: [UInt8]?
    /// The text in the store when another file took the name.
    var base: [UInt8]?
    /// Indicates that a program replaces a text that has just arrived and that nobody has seen
    /// (`Arrivals`).
    var replacesUnseen = false
    var version = 0
    var savedVersion = 0
    /// The time of the last write, or the time that utimens has set since.
    var modified: Timestamp
    /// The time of the last local change of content, name or times: ctime.
    var changed: Timestamp
    var created: Timestamp
    var handles = 0
    var writers = 0
    /// The programs that have opened the file for writing (`ProgramTable`).
    var programs: Set<Int32> = []
    /// The reason why the last text is only a draft, until a close has reported it: fsync may
    /// not.
    var untold: RecordError?
    /// The bytes that the text could not take. Then the text is not saved.
    var failure: WriteFailure?
    /// Indicates that the name was removed: later writes are lost, as on any file system.
    var isUnlinked = false
    /// Indicates that the record is no longer shared with this user: nothing of it can be read
    /// any more.
    var isRevoked = false
    /// The place of the file when a program opened it for writing.
    var home: TypeDirectory?

    var isDirty: Bool { version != savedVersion }
}

extension OpenRecordState {
    var identity: OpenRecord.Identity {
        OpenRecord.Identity(file: file, type: type, stem: stem, home: home)
    }

    var shown: OpenRecord.Shown {
        OpenRecord.Shown(
            type: type, size: Int64(text?.count ?? 0), modified: modified, changed: changed)
    }

    mutating func noteChange(_ moment: Timestamp) {
        changed = max(moment, changed + .nanoseconds(1))
    }
}
