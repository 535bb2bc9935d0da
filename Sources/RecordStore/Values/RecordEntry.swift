package import RecordModel

/// What a listing and `stat` need of a record; its text is read on its own.
package struct RecordEntry: Hashable, Sendable {
    /// The raw value is stored; never renumber.
    package enum State: Int64, Sendable {
        case saved = 0
        /// Only a draft, or an asset that came before its record: nothing was ever saved.
        case draftOnly = 1
        /// Deleted, and hidden, but until the grace is over the same record if it comes back.
        case waitingDelete = 2
    }

    package let id: RecordID
    /// Goes up whenever another file takes the record's name, or the name is removed.
    package let incarnation: UInt32
    package let type: TypeID
    package let stem: Stem
    package let state: State
    package let hasDraft: Bool
    package let hasAssets: Bool
    /// Assets have come before their record, or stayed when its draft was removed: there is no
    /// file NAME.json, so that whoever copies can make it.
    package let isAwaited: Bool
    /// Bytes of the text that the file shows: the draft's when there is one.
    package let size: Int64
    package let modified: Timestamp
    package let created: Timestamp
    /// When its content, name or times last changed on this machine.
    package let statusChanged: Timestamp

    /// Whether the record's name shows no file.
    package var isHidden: Bool { isAwaited || state == .waitingDelete }

    package var file: RecordFile { RecordFile(record: id, incarnation: incarnation) }
}

/// The file that shows a record, from one replacement to the next: an inode, as ext4 would say.
///
/// Whoever has it open goes on with what it showed when something else took its name. Only writes
/// through the mount into the open file change it.
package struct RecordFile: Hashable, Sendable {
    package let record: RecordID
    /// Below `incarnations`, from where it begins at 0 again.
    package let incarnation: UInt32

    /// How many replacements of one name have files that differ.
    package static let incarnations: UInt32 = 1 << 22

    package init(record: RecordID, incarnation: UInt32) {
        self.record = record
        self.incarnation = incarnation
    }
}

/// What a file showed before it was replaced.
package struct ReplacedFile: Sendable {
    package let entry: RecordEntry
    package let text: [UInt8]
    package let author: Author
    package let effect: FileEffect
    /// The version that the record had; nil for a draft of no record, and where the name stays.
    package let version: Int64?
}

/// How far a replacement is.
package enum Replacement: Sendable {
    /// The commit follows: it may still fail, on a full disk above all.
    case begins
    case done
    /// It has failed, and the files have their names as before.
    case failed
}

/// What a change means for the file under the record's name.
package enum FileEffect: Sendable {
    /// The text was written into the file itself, through the mount.
    case inPlace
    /// Another file takes the name, if the text is another.
    case replaced
    /// Another file takes the name by rename(2), whatever it shows.
    case renamedOver
    /// Another file takes the name, for the text is not what was written into the one there.
    case rewritten
    /// The name is free now.
    case removed
}

/// System values of a record, as extended attributes and `.recordfs/meta` show them.
package struct RecordMeta: Hashable, Sendable {
    package let id: RecordID
    package let name: RecordName
    package let type: TypeID
    package let zone: ZoneID
    package let state: RecordEntry.State
    package let created: Timestamp
    package let createdBy: String
    package let modified: Timestamp
    package let modifiedBy: String
    /// The server's tag of the base state; empty before the first upload.
    package let changeTag: String
    /// 1 for the first record of this name, one more each time it is made again.
    package let generation: Int64
    /// Whether a change waits in the outbox.
    package let isPending: Bool
    /// Why the server did not take that change; nil when it did not refuse it.
    package let refusal: String?
    /// Whether an edit lost against another one, and nobody has settled it.
    package let hasConflict: Bool
    package let share: RecordName?
    /// What this machine's user may do with it.
    package internal(set) var permission: ZoneInfo.Permission
}

/// A text that could not be saved, kept for the file until a valid save.
package struct Draft: Hashable, Sendable {
    package let record: RecordID
    package let type: TypeID
    package let stem: Stem
    package let text: [UInt8]
    package let error: RecordError
    package let since: Timestamp

    package static func == (left: Self, right: Self) -> Bool {
        left.record == right.record && left.type == right.type && left.stem == right.stem
            && left.text == right.text && left.error == right.error && left.since == right.since
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(record) }
}

/// Why the last save of a record was refused.
package struct Refusal: Sendable {
    package let record: RecordID
    package let type: TypeID
    package let stem: Stem
    package let error: RecordError
    package let since: Timestamp
    /// Whether the refused text is still there; else a program has put the old one back.
    package let hasDraft: Bool
    /// Whether there is no file of the record yet, only assets.
    package let isAwaited: Bool
}

/// What a save did.
package struct SaveResult: Hashable, Sendable {
    package enum Outcome: Hashable, Sendable {
        case created, updated
        /// The values were already so: at most the text changed, which is sent too; no version.
        case unchanged
    }

    package let id: RecordID
    package let outcome: Outcome
    package let entry: RecordEntry
    /// The version in history that this made; nil when the values were so already.
    package let version: Int64?
}
