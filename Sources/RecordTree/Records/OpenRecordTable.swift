import RecordModel
import RecordStore

/// The files of records that programs have open or have read, and the names that wait for their
/// first save.
///
/// INVARIANTS
/// - `files[f]` shows the file `f`.
/// - Each TYPE directory in `pending` has a name.
/// - `past` and `readings` keep theirs.
struct OpenRecordTable: CheckedState {
    /// Files with open handles or with text that is not saved yet, also those that have lost their
    /// names.
    private var files: [RecordFile: OpenRecord] = [:]
    /// New names without a row. Lookups and listings show them.
    private var pending: [TypeID: [Stem: RecordFile]] = [:]
    var past = PastFiles()
    var readings: Readings
    var retryIsDue = false

    init(_ programs: ProgramTable) { readings = Readings(table: programs) }

    var size: Int { files.count + pending.count + past.size + readings.size }

    var violations: [String] {
        var found: [String] = []
        if files.contains(where: { $0.value.file != $0.key }) {
            found.append("an open record is under another file")
        }
        if pending.values.contains(where: \.isEmpty) {
            found.append("a directory without names waits for a save")
        }
        return found + past.violations + readings.violations
    }

    // MARK: Open files

    var all: [OpenRecord] { Array(files.values) }
    var count: Int { files.count }
    var hasUnsaved: Bool { files.values.contains(where: \.isUnsaved) }

    func open(_ file: RecordFile) -> OpenRecord? { files[file] }

    /// Returns the file that all handles share: the given one, unless there is one.
    mutating func share(_ made: OpenRecord, as file: RecordFile) -> OpenRecord {
        let open = files[file] ?? made
        files[file] = open
        if let past = past[file] { open.keep(past.text) }
        return open
    }

    /// Forgets an open file. Does nothing when its name has another one now.
    mutating func forget(_ open: OpenRecord) {
        if files[open.file] === open { files[open.file] = nil }
    }

    mutating func take(_ file: RecordFile) -> OpenRecord? { files.removeValue(forKey: file) }

    /// Notes that an open file has another name.
    ///
    /// - Parameter isSame: whether the record of the name shows the bytes of the file. Otherwise
    ///   open handles keep the bytes, and a writer's save is merged.
    mutating func move(
        _ file: RecordFile, to new: RecordFile, _ type: TypeID, _ stem: Stem, isSame: Bool
    ) {
        guard let open = files[file] else { return }
        open.move(to: isSame ? new : file, type, stem)
        guard isSame else { return }
        files[file] = nil
        files[new] = open
    }

    // MARK: Names that wait for their first save

    var pendingRecords: Set<RecordID> { Set(pending.values.flatMap(\.values).map(\.record)) }

    func pending(_ type: TypeID, _ stem: Stem) -> RecordFile? { pending[type]?[stem] }
    func pending(in type: TypeID) -> [Stem: RecordFile] { pending[type] ?? [:] }

    /// Adds a new name with its file.
    mutating func add(_ open: OpenRecord, _ file: RecordFile, _ type: TypeID, _ stem: Stem) {
        files[file] = open
        pending[type, default: [:]][stem] = file
    }

    mutating func removePending(_ type: TypeID, _ stem: Stem) {
        guard pending[type]?.removeValue(forKey: stem) != nil else { return }
        if pending[type]?.isEmpty == true { pending[type] = nil }
    }

    /// Removes a name that waits for the first save of this file. Returns false for any other name.
    @discardableResult
    mutating func removePending(_ type: TypeID, _ stem: Stem, of file: RecordFile) -> Bool {
        guard pending(type, stem) == file else { return false }
        removePending(type, stem)
        return true
    }
}
