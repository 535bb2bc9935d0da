import Glibc
import RecordModel
import RecordStore
import Synchronization

/// Who makes calls. A program is a process group: its threads, its children and all parts of a pipe are
/// one, so that of `jq … n.json | sponge n.json` the one that writes is the one that has read.
package struct ProgramTable: Sendable {
    /// The program of a thread, as the kernel names callers; nil for one of another container.
    package var program: @Sendable (_ thread: Int32) -> Int32?
    package var isRunning: @Sendable (_ program: Int32) -> Bool

    package init(
        program: @escaping @Sendable (Int32) -> Int32?,
        isRunning: @escaping @Sendable (Int32) -> Bool
    ) {
        self.program = program
        self.isRunning = isRunning
    }

    package static let system = ProgramTable(
        program: { thread in
            let group = thread > 0 ? getpgid(thread) : -1
            return group > 0 ? group : nil
        }, isRunning: { kill(-$0, 0) == 0 || errno != ESRCH })
}

/// What programs have read of records, so that a text that one of them saves later is merged with what
/// another machine has changed since, and does not set that back.
///
/// For an editor reads a file, closes it, and writes the whole text a while later; `sed -i` and `jq` do so
/// within a moment. Who keeps a file open is known to it (`OpenRecord.State.base`). Changes of programs
/// on this machine are replaced by the next save, as on any file system.
///
/// Bounded: of each program the records that it read last, and of the programs first those that run.
struct Readings {
    struct Name: Hashable, Sendable {
        let type: TypeID
        let stem: Stem
    }

    /// What some programs have had of a record: one of these is what a text of theirs began with.
    struct Known {
        /// As they were before a change from elsewhere, oldest first.
        var texts: [[UInt8]] = []
        /// Files that have their names still, as far as is known here.
        var files: [RecordFile] = []
        /// Files that were removed, or renamed to other names: who writes one back goes on with what it was.
        var gone: [Gone] = []

        /// Also when it has gone aside since, and another file of the record waits for its name.
        func hasRead(_ current: RecordFile) -> Bool {
            files.contains { $0.record == current.record }
        }
    }

    struct Gone {
        let file: RecordFile
        let text: [UInt8]
        /// The record's then.
        let version: Int64
        let time: Timestamp
    }

    private struct Reader {
        var known: [Name: Known] = [:]
        /// The names, in the order in which they were read first.
        var order: [Name] = []
        var number: UInt64
    }

    private static let namesMax = 64
    private static let programsMax = 1024
    /// Of one record, for one program.
    private static let textsMax = 4
    /// Of all texts, in bytes.
    private static let bytesMax = 8 << 20

    private let table: ProgramTable
    private var readers: [Int32: Reader] = [:]
    private var programs: [RecordFile: Set<Int32>] = [:]
    private var nextNumber: UInt64 = 0
    private var bytes = 0

    init(_ table: ProgramTable) { self.table = table }

    func known(_ name: Name, by programs: Set<Int32>) -> Known {
        programs.reduce(into: Known()) { all, program in
            guard let known = readers[program]?.known[name] else { return }
            all.texts += known.texts
            all.files += known.files
            all.gone += known.gone
        }
    }

    /// Says whether one of the programs has had something that is not there now: most have not.
    func haveOld(_ name: Name, _ programs: Set<Int32>) -> Bool {
        programs.contains { program in
            guard let known = readers[program]?.known[name] else { return false }
            return !known.texts.isEmpty || !known.gone.isEmpty
        }
    }

    mutating func note(_ file: RecordFile, _ name: Name, by program: Int32) {
        if programs[file]?.contains(program) == true { return }
        edit(name, of: program) { $0.files.append(file) }
        programs[file, default: []].insert(program)
    }

    /// A file that had lost its name to another machine's change when it was opened.
    mutating func note(text: [UInt8], _ name: Name, by program: Int32) {
        edit(name, of: program) { $0.add(text) }
    }

    /// A file loses its name to another one, or for good. One that goes can come back, as what it was.
    mutating func replaced(_ replaced: ReplacedFile, at time: Timestamp) {
        let file = replaced.entry.file
        var gone: Gone?
        if replaced.effect == .removed {
            guard let version = replaced.version else { return }
            gone = Gone(file: file, text: replaced.text, version: version, time: time)
        }
        let name = Name(type: replaced.entry.type, stem: replaced.entry.stem)
        for program in programs.removeValue(forKey: file) ?? [] {
            edit(name, of: program) { known in
                known.files.removeAll { $0 == file }
                if let gone {
                    known.gone = [gone]
                } else if replaced.author == .sync {
                    known.add(replaced.text)
                }
            }
        }
    }

    /// What a program has saved is what it goes on with.
    ///
    /// - Parameter file: the record's, when that shows the text alone; nil when something was merged.
    mutating func saved(_ text: [UInt8], _ name: Name, in file: RecordFile?, by program: Int32) {
        if readers[program]?.known[name] != nil { forget(name, of: program) }
        if let file {
            note(file, name, by: program)
        } else {
            note(text: text, name, by: program)
        }
    }

    // MARK: Bounds

    private mutating func edit(_ name: Name, of program: Int32, _ change: (inout Known) -> Void) {
        if readers[program] == nil {
            makeRoom()
            nextNumber += 1
            readers[program] = Reader(number: nextNumber)
        }
        if readers[program]?.known[name] == nil {
            readers[program]?.order.append(name)
            if let first = readers[program]?.order.first,
                readers[program]?.order.count ?? 0 > Self.namesMax
            {
                forget(first, of: program)
            }
        }
        let before = readers[program]?.known[name]?.bytes ?? 0
        change(&readers[program, default: Reader(number: nextNumber)].known[name, default: Known()])
        let texts = readers[program]?.known[name]?.texts.count ?? 0
        if texts > Self.textsMax { readers[program]?.known[name]?.texts.removeFirst() }
        bytes += (readers[program]?.known[name]?.bytes ?? 0) - before
        if bytes > Self.bytesMax { forgetTexts(butOf: program) }
    }

    private mutating func forget(_ name: Name, of program: Int32) {
        guard let known = readers[program]?.known.removeValue(forKey: name) else { return }
        readers[program]?.order.removeAll { $0 == name }
        bytes -= known.bytes
        for file in known.files {
            programs[file]?.remove(program)
            if programs[file]?.isEmpty == true { programs[file] = nil }
        }
    }

    /// The name is that of another record from now on.
    mutating func forget(_ name: Name) {
        for program in readers.keys where readers[program]?.known[name] != nil {
            forget(name, of: program)
        }
    }

    private mutating func forget(_ program: Int32) {
        for name in readers[program]?.order ?? [] { forget(name, of: program) }
        readers[program] = nil
    }

    private mutating func makeRoom() {
        guard readers.count >= Self.programsMax else { return }
        for program in readers.keys where !table.isRunning(program) { forget(program) }
        guard readers.count >= Self.programsMax else { return }
        let oldest = readers.sorted { $0.value.number < $1.value.number }
        for (program, _) in oldest.prefix(Self.programsMax / 2) { forget(program) }
    }

    private mutating func forgetTexts(butOf last: Int32) {
        for program in readers.keys where program != last { forget(program) }
        if bytes > Self.bytesMax { forget(last) }
    }
}

extension Readings.Known {
    fileprivate var bytes: Int { (texts + gone.map(\.text)).reduce(0) { $0 + $1.count } }

    fileprivate mutating func add(_ text: [UInt8]) {
        texts.removeAll { $0 == text }
        texts.append(text)
    }
}

extension Tree {
    /// Gives what programs have had of a record that is there now. What they have had of a file that has gone counts as
    /// read before where another machine's edit has brought the record back.
    ///
    /// - Returns: also since when such a file is gone.
    func known(
        _ name: Readings.Name, by programs: Set<Int32>, of current: RecordEntry,
        with transaction: Transaction
    ) throws(RecordError) -> (Readings.Known, goneSince: Timestamp?) {
        var known = state.withLock { $0.readings.known(name, by: programs) }
        var since: Timestamp?
        for gone in known.gone {
            if try transaction.hasNews(of: current.id, since: gone.version) {
                known.texts.append(gone.text)
                since = min(since ?? gone.time, gone.time)
            } else {
                known.files.append(gone.file)
            }
        }
        return (known, since)
    }

    /// An open file has one more program, which reads what it shows unless it empties it first.
    func noteProgram(_ caller: Requester, of open: OpenRecord, flags: Int32) {
        guard let program = options.programs.program(caller.threadID) else { return }
        let writes = flags & O_ACCMODE != O_RDONLY
        state.withLock { state in
            let (file, name) = open.state.withLock { open in
                if writes { open.programs.insert(program) }
                return (open.file, Readings.Name(type: open.type, stem: open.stem))
            }
            guard flags & O_TRUNC == 0, flags & O_ACCMODE != O_WRONLY else { return }
            guard let past = state.past[file] else {
                return state.readings.note(file, name, by: program)
            }
            if past.author == .sync { state.readings.note(text: past.text, name, by: program) }
        }
    }
}
