import RecordModel

/// The state of an open large field.
struct OpenAssetState {
    /// The row of its bytes. It stays the same while they move in their list.
    var id: AssetID
    /// The row before the file moved with its record.
    var formerID: AssetID?
    /// Its file when it was opened, saved, or moved with its record.
    var home: AssetHome
    /// The file that reads and writes use. Nil when the bytes are not on this machine.
    var file: HostFile?
    /// The path of the working copy. Nil while `file` is the stored content.
    var workingCopy: [UInt8]?
    /// The hash of a working copy that the store has taken while no record refers to it yet.
    var imported: ContentHash?
    var version = 0
    var savedVersion = 0
    var modified: Timestamp
    /// The time of the last local change of content, name or times: ctime.
    var changed: Timestamp
    var size: Int64
    var handles = 0
    var writers = 0
    /// The version of the record that the file shows. Nil when there is no version.
    var readVersion: Int64?
    /// The programs that have opened the file for writing (`ProgramTable`).
    var programs: Set<Int32> = []
    /// The bytes that the working copy could not take. Then it is not saved.
    var failure: WriteFailure?
    var isUnlinked = false
    /// Indicates that the file is no longer shared with this user: nothing of it can be read
    /// any more.
    var isRevoked = false
    var isDirty: Bool { version != savedVersion }
}

extension OpenAssetState {
    mutating func noteChange(_ moment: Timestamp) {
        changed = max(moment, changed + .nanoseconds(1))
    }
}
