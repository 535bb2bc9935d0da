import Glibc
import RecordModel
import RecordStore

/// The texts of records that programs have read. A text that a program saves later is merged with
/// changes of other machines since then, and does not undo them.
///
/// An editor reads a file, closes it, and writes the whole text some time later; `sed -i` and `jq`
/// do so within a moment. For a file that stays open `OpenRecord.State.base` has this information.
/// The next save replaces changes of programs on this machine, as on any file system.
///
/// The memory is bounded: for each program the records that it read last, and among the programs
/// first those that are running.
///
/// INVARIANTS: `bytes` is the size of all texts, and each name of a reader is among its last used.
struct Readings: CheckedState {
    struct Name: Hashable, Sendable {
        let type: TypeID
        let stem: Stem
    }

    /// The versions of a record that some programs have read. A later text of these programs is
    /// based on one of them.
    struct Known {
        /// The texts before a change from elsewhere, the oldest first.
        var texts: [[UInt8]] = []
        /// The files that still have their names, as far as this machine knows.
        var files: [RecordFile] = []
        /// The texts that the programs have written into such files, where the mount has added the
        /// references of large fields.
        var written: [RecordFile: [UInt8]] = [:]
        /// Files that were removed, or renamed to other names. A program that writes such a file
        /// again continues from its old text.
        var gone: [Gone] = []

        /// Returns whether the current record was read, also when its file was moved aside since
        /// and another file of the record waits for its name.
        func hasRead(_ current: RecordFile) -> Bool {
            files.contains { $0.record == current.record }
        }
    }

    struct Gone {
        let file: RecordFile
        let text: [UInt8]
        /// The version of the record at that time.
        let version: Int64
        let time: Timestamp
    }

    struct Reader {
        var known: [Name: Known] = [:]
        var names = RecentUses<Name>()
        var number: UInt64

        /// Changes what is known of a record. Returns by how many bytes the texts have grown.
        mutating func edit(_ name: Name, _ change: (inout Known) -> Void) -> Int {
            names.use(name)
            return known[name, default: Known()].edit(change)
        }
    }

    private static let namesMax = 64
    private static let programsMax = 1024
    /// The limit of texts of one record for one program.
    fileprivate static let textsMax = 4
    /// The limit of all texts, in bytes.
    private static let bytesMax = 8 << 20

    let table: ProgramTable
    private(set) var readers: [Int32: Reader] = [:]
    private(set) var programs: [RecordFile: Set<Int32>] = [:]
    private(set) var nextNumber: UInt64 = 0
    private(set) var bytes = 0

    var size: Int { readers.count + programs.count }

    var violations: [String] {
        var found: [String] = []
        let texts = readers.values.flatMap(\.known.values)
        if bytes != texts.reduce(0, { $0 + $1.bytes }) {
            found.append("the bytes of read texts are counted wrongly")
        }
        if readers.values.contains(where: { !Set($0.names.keys).isSuperset(of: $0.known.keys) }) {
            found.append("a read text is never forgotten")
        }
        return found
    }

    func known(_ name: Name, by programs: Set<Int32>) -> Known {
        programs.reduce(into: Known()) { all, program in
            guard let known = readers[program]?.known[name] else { return }
            all.texts += known.texts
            all.files += known.files
            all.gone += known.gone
        }
    }

    /// Returns whether one of the programs has read something that is no longer current. Most have
    /// not.
    func haveOld(_ name: Name, _ programs: Set<Int32>) -> Bool {
        programs.contains { program in
            guard let known = readers[program]?.known[name] else { return false }
            return !known.texts.isEmpty || !known.gone.isEmpty
        }
    }

    mutating func note(_ file: RecordFile, _ name: Name, by program: Int32) {
        if programs[file]?.contains(program) == true {
            // A file that was renamed is known under its former name.
            if readers[program]?.known[name] != nil { readers[program]?.names.use(name) }
            return
        }
        edit(name, of: program) { $0.files.append(file) }
        programs[file, default: []].insert(program)
    }

    /// Notes the text of a file that had lost its name to a change of another machine before it was
    /// opened.
    mutating func note(text: [UInt8], _ name: Name, by program: Int32) {
        edit(name, of: program) { $0.add(text) }
    }

    /// Notes that a file loses its name to another file, or for good. A removed file may return
    /// with its old text.
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
                let text = known.written.removeValue(forKey: file) ?? replaced.text
                if let gone {
                    known.gone = [
                        Gone(file: file, text: text, version: gone.version, time: gone.time)
                    ]
                } else if replaced.author == .sync {
                    known.add(text)
                }
            }
        }
    }

    /// Notes a text that a program has saved: the program continues from it.
    ///
    /// - Parameter file: the record's file. Nil when changes of others were merged into the text.
    /// - Parameter isWhole: whether the file shows exactly this text, without references that the
    ///   mount has added.
    mutating func saved(
        _ text: [UInt8], _ name: Name, in file: RecordFile?, isWhole: Bool, by program: Int32
    ) {
        if readers[program]?.known[name] != nil { forget(name, of: program) }
        if let file {
            note(file, name, by: program)
            if !isWhole { edit(name, of: program) { $0.written[file] = text } }
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
        bytes += readers[program, default: Reader(number: nextNumber)].edit(name, change)
        if let oldest = readers[program]?.names.oldest(over: Self.namesMax) {
            forget(oldest, of: program)
        }
        if bytes > Self.bytesMax { forgetTexts(butOf: program) }
    }

    private mutating func forget(_ name: Name, of program: Int32) {
        readers[program]?.names.remove(name)
        guard let known = readers[program]?.known.removeValue(forKey: name) else { return }
        bytes -= known.bytes
        for file in known.files {
            programs[file]?.remove(program)
            if programs[file]?.isEmpty == true { programs[file] = nil }
        }
    }

    /// Forgets a name that belongs to another record from now on.
    mutating func forget(_ name: Name) {
        for program in readers.keys where readers[program]?.known[name] != nil {
            forget(name, of: program)
        }
    }

    private mutating func forget(_ program: Int32) {
        guard let reader = readers[program] else { return }
        for name in reader.names.keys { forget(name, of: program) }
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
    fileprivate var bytes: Int {
        texts.reduce(0) { $0 + $1.count } + gone.reduce(0) { $0 + $1.text.count }
            + written.values.reduce(0) { $0 + $1.count }
    }

    /// Returns by how many bytes the texts have grown.
    fileprivate mutating func edit(_ change: (inout Readings.Known) -> Void) -> Int {
        let before = bytes
        change(&self)
        if texts.count > Readings.textsMax { texts.removeFirst() }
        return bytes - before
    }

    fileprivate mutating func add(_ text: [UInt8]) {
        texts.removeAll { $0 == text }
        texts.append(text)
    }
}

extension TextSnapshot {
    /// The name under which programs have read the record.
    var name: Readings.Name { Readings.Name(type: type, stem: stem) }
}
