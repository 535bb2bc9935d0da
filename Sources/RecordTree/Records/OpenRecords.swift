import Glibc
import RecordModel
import RecordStore

/// The open records, and the memory of the texts that programs have read.
///
/// A thread takes its lock before the lock of an open file, and before the lock of the nodes.
final class OpenRecords: Sendable {
    let arrivals: Arrivals
    let nodes: Nodes
    let options: TreeOptions
    let rows: CachedRows
    private let table: StateLock<OpenRecordTable>

    init(_ ground: Ground) {
        arrivals = Arrivals(ground.options)
        nodes = ground.nodes
        options = ground.options
        rows = ground.rows
        table = StateLock(OpenRecordTable(options.programs))
    }

    /// Returns the record that shows under the stem, also one that waits for its first save.
    func find(_ type: TypeID, _ stem: Stem) throws(RecordError) -> RecordFile? {
        if let file = pending(type, stem) { return file }
        guard let entry = try rows.row(type, stem), !entry.isHidden else { return nil }
        return entry.file
    }

    // MARK: Open files

    var all: [OpenRecord] { table.withLock(\.all) }
    var count: Int { table.withLock(\.count) }

    func open(_ file: RecordFile) -> OpenRecord? { table.withLock { $0.open(file) } }

    /// Returns an open file, with one more handle counted.
    func open(_ file: RecordFile, writes: Bool) -> OpenRecord? {
        table.withLock { table in
            let open = table.open(file)
            open?.addHandle(writes: writes)
            return open
        }
    }

    /// Returns the file that all handles share, with one more handle counted: the given one,
    /// unless there is one.
    func share(_ made: OpenRecord, as file: RecordFile, writes: Bool) -> OpenRecord {
        table.withLock { table in
            let open = table.share(made, as: file)
            open.addHandle(writes: writes)
            return open
        }
    }

    /// Removes a handle from an open file, and forgets the file with its last handle, unless it
    /// has a text that is not saved. Returns the bytes of the text of a forgotten file.
    func close(_ open: OpenRecord) -> Int? {
        table.withLock { table in
            let bytes = open.removeHandle()
            if bytes != nil { table.forget(open) }
            return bytes
        }
    }

    /// Forgets a file that is not open and has no unsaved text.
    func forgetIfClosed(_ open: OpenRecord) {
        table.withLock { table in
            if open.isClosed { table.forget(open) }
        }
    }

    /// Returns an open file, which is no longer found as open.
    func take(_ file: RecordFile) -> OpenRecord? { table.withLock { $0.take(file) } }

    func unlink(_ file: RecordFile) { open(file)?.unlink() }

    /// Notes that the store has moved a file to another name, which the record `new` shows from now
    /// on. Open handles of the file become handles of that record.
    ///
    /// - Parameter isSame: whether the record shows the bytes of the file. Otherwise open handles
    ///   keep the bytes, and a writer's save is merged.
    func move(
        _ file: RecordFile, to new: RecordFile, _ type: TypeID, _ stem: Stem, isSame: Bool
    ) {
        table.withLock { $0.move(file, to: new, type, stem, isSame: isSame, nodes) }
    }

    /// Notes that the kernel has moved a file to another name, in place of any file that waits for
    /// its first save there.
    ///
    /// - Parameter home: the new place, for a save after its directory was removed. Nil leaves the
    ///   place.
    func rename(
        _ file: RecordFile, to new: RecordFile, _ type: TypeID, _ stem: Stem, isSame: Bool,
        home: TypeDirectory? = nil
    ) {
        table.withLock { table in
            table.removePending(type, stem)
            table.move(file, to: new, type, stem, isSame: isSame, nodes)
            if let home {
                table.open(isSame ? new : file)?.setHome(home)
            }
        }
    }

    /// Notes that the kernel has exchanged the names of two files of a type.
    func swap(
        _ file: RecordFile, _ stem: Stem, _ other: RecordFile, _ otherStem: Stem,
        becoming new: (RecordFile, RecordFile), in type: TypeID
    ) {
        table.withLock { table in
            table.removePending(type, stem)
            table.removePending(type, otherStem)
            table.move(file, to: new.1, type, otherStem, isSame: true, nodes)
            table.move(other, to: new.0, type, stem, isSame: true, nodes)
        }
    }

    // MARK: Names that wait for their first save

    func pending(_ type: TypeID, _ stem: Stem) -> RecordFile? {
        table.withLock { $0.pending(type, stem) }
    }

    func pending(in type: TypeID) -> [Stem: RecordFile] { table.withLock { $0.pending(in: type) } }

    var pendingRecords: Set<RecordID> { table.withLock(\.pendingRecords) }

    /// Adds a new name with its file.
    func add(_ open: OpenRecord, _ file: RecordFile, _ type: TypeID, _ stem: Stem) {
        table.withLock { $0.add(open, file, type, stem) }
    }

    func removePending(_ type: TypeID, _ stem: Stem) {
        table.withLock { $0.removePending(type, stem) }
    }

    /// Removes a name when it waits for the first save of this file.
    func removePending(_ type: TypeID, _ stem: Stem, of file: RecordFile) {
        table.withLock { _ = $0.removePending(type, stem, of: file) }
    }

    /// Removes the name under which a file waits for its first save. Returns false for any other
    /// name.
    func takePending(_ file: RecordFile) -> Bool {
        table.withLock { table in
            guard let open = table.open(file) else { return false }
            let name = open.identity
            return table.removePending(name.type, name.stem, of: file)
        }
    }

    // MARK: Unsaved texts

    /// Indicates whether a text waits for another attempt to save it.
    var retryIsDue: Bool { table.withLock(\.retryIsDue) }

    func noteRetryIsDue() { table.withLock { $0.retryIsDue = true } }

    /// Checks whether a text still waits. Returns false when all are saved.
    func checkRetry() -> Bool {
        table.withLock { table in
            table.retryIsDue = table.hasUnsaved
            return table.retryIsDue
        }
    }

    /// The open files with a text that is not saved and that no writer holds any more, in the order
    /// of their last writes.
    var unsaved: [OpenRecord] {
        all.filter(\.isUnsaved).map { (open: $0, modified: $0.shown.modified) }
            .sorted { $0.modified < $1.modified }.map(\.open)
    }

    // MARK: Files that have lost their names

    func past(_ file: RecordFile) -> ReplacedFile? { table.withLock { $0.past[file] } }

    /// Returns a file that has lost its name, as a program has it open and as it was.
    func lost(_ file: RecordFile) -> (open: OpenRecord?, past: ReplacedFile?) {
        table.withLock { ($0.open(file), $0.past[file]) }
    }

    /// Forgets the files whose time is over. Returns the bytes of their texts.
    func forgetOldPast() -> Int {
        let uptime = options.clock.uptime
        return table.withLock { $0.past.removeOld(at: uptime) }
    }

    func forgetPast(_ file: RecordFile) { table.withLock { $0.past.remove(file) } }

    /// Handles the files that lose their names, before each commit: an open file keeps its text.
    /// After a failed commit the files have their names, and later saves change them: a text kept
    /// for late readers would then be out of date.
    func filesReplaced(_ files: [ReplacedFile], _ moment: Replacement) {
        let (uptime, now) = (options.clock.uptime, options.now)
        table.withLock { table in
            for replaced in files {
                let file = replaced.entry.file
                switch moment {
                case .begins:
                    table.open(file)?.keep(replaced.text)
                    table.past.add(replaced, at: uptime)
                    table.readings.replaced(replaced, at: now)
                case .failed:
                    table.open(file)?.keepName()
                    table.past.remove(file)
                case .done: break
                }
            }
        }
    }

    // MARK: Texts that programs have read

    /// Returns the versions of a record that some programs have read.
    func read(_ name: Readings.Name, by programs: Set<Int32>) -> Readings.Known {
        table.withLock { $0.readings.known(name, by: programs) }
    }

    /// Returns whether one of the programs has read something that is no longer current.
    func haveOld(_ name: Readings.Name, _ programs: Set<Int32>) -> Bool {
        table.withLock { $0.readings.haveOld(name, programs) }
    }

    /// Notes a text that programs have saved: they continue from it.
    ///
    /// - Parameter file: the record's file. Nil when changes of others were merged into the text.
    /// - Parameter isWhole: whether the file shows exactly this text.
    func noteSaved(
        _ text: [UInt8], _ name: Readings.Name, in file: RecordFile?, isWhole: Bool,
        by programs: Set<Int32>
    ) {
        table.withLock { table in
            for program in programs {
                table.readings.saved(text, name, in: file, isWhole: isWhole, by: program)
            }
        }
    }

    /// Forgets names that belong to other records from now on.
    func forgetReadings(of names: [Readings.Name]) {
        table.withLock { table in for name in names { table.readings.forget(name) } }
    }

    /// Notes that another program has opened the file. It reads the text of the file unless it
    /// empties the file first.
    func noteProgram(_ caller: Requester, of open: OpenRecord, flags: Int32) {
        noteArrival(caller, of: open, flags: flags)
        guard let program = options.programs.program(caller.threadID) else { return }
        let writes = flags & O_ACCMODE != O_RDONLY
        table.withLock { table in
            let opened = open.noteProgram(program, writes: writes)
            let (file, name) = (
                opened.file, Readings.Name(type: opened.type, stem: opened.stem)
            )
            guard flags & O_TRUNC == 0, flags & O_ACCMODE != O_WRONLY else { return }
            guard let past = table.past[file] else {
                return table.readings.note(file, name, by: program)
            }
            if past.author == .sync { table.readings.note(text: past.text, name, by: program) }
        }
    }

    /// Notes that a program reads a record that has just arrived, or replaces it unseen.
    private func noteArrival(_ caller: Requester, of open: OpenRecord, flags: Int32) {
        let record = open.file.record
        if flags & O_TRUNC != 0, flags & O_ACCMODE != O_RDONLY {
            if arrivals.isUnseen(record, by: caller.threadID) { open.noteReplacesUnseen() }
        } else if flags & O_ACCMODE != O_WRONLY {
            arrivals.noteRead(record)
        }
    }
}

extension OpenRecordTable {
    fileprivate mutating func move(
        _ file: RecordFile, to new: RecordFile, _ type: TypeID, _ stem: Stem, isSame: Bool,
        _ nodes: Nodes
    ) {
        move(file, to: new, type, stem, isSame: isSame)
        if isSame { nodes.rebind(.record(file), to: .record(new)) }
    }
}
