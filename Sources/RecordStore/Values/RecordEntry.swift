package import RecordModel

/// The part of a record that a listing and `stat` need. Its text is read separately.
package struct RecordEntry: Hashable, Sendable {
    /// The raw value is stored; never renumber.
    package enum State: Int64, Sendable {
        case saved = 0
        /// Only a draft, or an asset that arrived before its record: nothing was ever saved.
        case draftOnly = 1
        /// Deleted and hidden. If it comes back before the grace time is over, it is the same
        /// record.
        case waitingDelete = 2
    }

    package let id: RecordID
    /// A number that grows whenever another file takes the record's name, or the name is removed.
    package let incarnation: UInt32
    package let type: TypeID
    package let stem: Stem
    package let state: State
    package let hasDraft: Bool
    package let hasAssets: Bool
    /// Indicates whether assets have arrived before their record, or stayed when its draft was
    /// removed. There is no file NAME.json, so that a copying program can make it.
    package let isAwaited: Bool
    /// The size in bytes of the text that the file shows: the draft's when there is one.
    package let size: Int64
    package let modified: Timestamp
    package let created: Timestamp
    /// The time at which its content, name or times last changed on this machine.
    package let statusChanged: Timestamp

    /// Indicates whether the record's name shows no file.
    package var isHidden: Bool { isAwaited || state == .waitingDelete }

    package var file: RecordFile { RecordFile(record: id, incarnation: incarnation) }
}

/// The file that shows a record, from one replacement to the next. It corresponds to an inode of
/// ext4.
///
/// A program that has it open still sees its content after something else has taken its name. Only
/// writes through the mount into the open file change it.
package struct RecordFile: Hashable, Sendable {
    package let record: RecordID
    /// A number below `incarnations`. After the highest number it begins at 0 again.
    package let incarnation: UInt32

    /// The number of replacements of one name that get different files.
    package static let incarnations: UInt32 = 1 << 22

    package init(record: RecordID, incarnation: UInt32) {
        self.record = record
        self.incarnation = incarnation
    }
}

/// The content of a file before it was replaced.
package struct ReplacedFile: Sendable {
    package let entry: RecordEntry
    package let text: [UInt8]
    package let author: Author
    package let effect: FileEffect
    /// The version that the record had. Nil for a draft without a record, and where the name stays.
    package let version: Int64?
}

/// The progress of a replacement.
package enum Replacement: Sendable {
    /// The commit follows. It may still fail, above all on a full disk.
    case begins
    case done
    /// The commit has failed, and the files have their old names.
    case failed
}

/// The effect of a change on the file under the record's name.
package enum FileEffect: Sendable {
    /// The text was written into the file itself, through the mount.
    case inPlace
    /// Another file takes the name if the text differs.
    case replaced
    /// Another file takes the name by rename(2), whatever its content.
    case renamedOver
    /// Another file takes the name, because the text differs from the text that was written into
    /// the existing file.
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
    /// The change tag of the base state on the server. Empty before the first upload.
    package let changeTag: String
    /// 1 for the first record with this name. It grows by one each time the record is made again.
    package let generation: Int64
    /// Indicates whether a change waits in the outbox.
    package let isPending: Bool
    /// The reason why the server did not accept that change. Nil when it did not refuse it.
    package let refusal: String?
    /// Indicates whether an edit lost against another one, and nobody has settled the conflict.
    package let hasConflict: Bool
    package let share: RecordName?
    /// The permission of this machine's user for the record.
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

/// The reason why the last save of a record was refused.
package struct Refusal: Sendable {
    package let record: RecordID
    package let type: TypeID
    package let stem: Stem
    package let error: RecordError
    package let since: Timestamp
    /// Indicates whether the refused text still exists. Otherwise a program has put the old one
    /// back.
    package let hasDraft: Bool
    /// Indicates whether the record has no file yet, only assets.
    package let isAwaited: Bool
}

/// The result of a save.
package struct SaveResult: Hashable, Sendable {
    package enum Outcome: Hashable, Sendable {
        case created, updated
        /// The values were already the same. At most the text changed; the text is sent too, but
        /// there is no new version.
        case unchanged
    }

    package let id: RecordID
    package let outcome: Outcome
    package let entry: RecordEntry
    /// The version in history that this save made. Nil when the values were already the same.
    package let version: Int64?
}
