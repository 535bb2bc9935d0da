import RecordModel
import RecordStore

/// A text that takes the name of a record as a whole. It comes from a scratch file, or from another
/// record.
struct WholeText {
    let stem: Stem
    let text: [UInt8]
    let modified: Timestamp
    /// The programs that made it (`ProgramTable`), as far as they are known. None for the text of
    /// another record.
    let programs: Set<Int32>
    /// The files of its large fields.
    let files: MovedFiles
    /// The thread that gives it the name.
    let thread: Int32?
    /// Indicates whether it is the text of another record, which has all its files or none.
    let isOfRecord: Bool

    /// Makes the text of a scratch file.
    init(
        stem: Stem, _ content: ([UInt8], Timestamp), programs: Set<Int32>,
        by caller: Requester, files: MovedFiles = .none
    ) {
        self.stem = stem
        (text, modified) = content
        self.programs = programs
        thread = caller.threadID
        self.files = files
        isOfRecord = false
    }

    /// Makes the text of another record.
    init(stem: Stem, _ content: ([UInt8], Timestamp), ofRecordWith files: MovedFiles) {
        self.stem = stem
        (text, modified) = content
        programs = []
        thread = nil
        self.files = files
        isOfRecord = true
    }
}

/// The current state of the record.
struct SavedText {
    let file: RecordFile
    let text: [UInt8]
    /// Indicates that the record contains something that the text did not have: changes of another
    /// machine since the text was begun, or the record's large fields.
    let isMerged: Bool
}

/// Saves of whole texts.
extension RecordRenames {
    /// Replaces the content of the record, but keeps changes that another machine has made since
    /// these programs read it.
    func save(_ new: WholeText, in type: TypeID, with transaction: Transaction)
        throws(RecordError) -> SavedText
    {
        let name = Readings.Name(type: type, stem: new.stem)
        var base: [UInt8]?
        var goneSince: Timestamp?
        let haveOld = records.haveOld(name, new.programs)
        if haveOld, let current = try transaction.records.record(type, new.stem) {
            let known: Readings.Known
            (known, goneSince) = try records.known(
                name, by: new.programs, of: current, with: transaction)
            if !known.texts.isEmpty {
                base = try transaction.merging.beginning(
                    of: new.text, among: known.texts, orCurrent: known.hasRead(current.file),
                    type: type, stem: new.stem)
            }
        }
        if base == nil, let unseen = try textBeforeArrival(new, in: type, with: transaction) {
            base = unseen
        }
        let entry =
            if let base {
                try transaction.merging.saveMerging(
                    text: new.text, since: base, type: type, stem: new.stem,
                    modified: new.modified, keptFiles: assets.keptFiles
                ).entry
            } else {
                try transaction.records.save(
                    text: new.text, type: type, stem: new.stem, modified: new.modified,
                    effect: .renamedOver, files: new.files,
                    keptFiles: new.isOfRecord ? .none : assets.keptFiles
                ).entry
            }
        let file = entry.file
        if let goneSince {
            try transaction.merging.settleDeletions(of: file.record, since: goneSince)
        }
        try transaction.assets.setFollows(new.files, of: file.record)
        let isAsWritten = base == nil && new.files.own.isEmpty && !entry.hasAssets
        let text =
            isAsWritten ? new.text : try transaction.records.text(of: file.record) ?? new.text
        let isMerged = text != new.text
        transaction.whenCommitted { [self] in
            records.noteSaved(
                new.text, name, in: base == nil ? file : nil, isWhole: !isMerged,
                by: new.programs)
        }
        return SavedText(file: file, text: text, isMerged: isMerged)
    }

    /// Returns the text from which the program has begun when it replaces a record that has just
    /// arrived and that nobody has seen. Otherwise nil.
    private func textBeforeArrival(
        _ new: WholeText, in type: TypeID, with transaction: Transaction
    ) throws(RecordError) -> [UInt8]? {
        guard let thread = new.thread, records.arrivals.hasAny,
            let current = try transaction.records.record(type, new.stem),
            records.arrivals.isUnseen(current.id, by: thread)
        else { return nil }
        return .beforeArrival
    }

    /// Notifies the kernel of a merge. The kernel believes that the record is exactly the file that
    /// it has moved.
    func tellOfMerge(_ saved: SavedText) {
        guard saved.isMerged,
            let number = nodes.number(of: .record(saved.file))
        else { return }
        kernel.deliver([.content(number)])
    }
}
