import Glibc
import RecordModel
import RecordStore
import Synchronization

/// The version of a record that each program had when it read a file of the record's large fields.
/// A file that a program saves after another machine has changed it is a conflict, because bytes
/// are not merged.
///
/// The memory is bounded as in `Readings`: for each program the files that it read last, and among
/// the programs first those that are running.
struct FieldReadings {
    private struct Reader {
        var versions: [AssetKey: Int64] = [:]
        var files = RecentUses<AssetKey>()
    }

    private static let filesMax = 64
    private static let programsMax = 1024

    private var readers: [Int32: Reader] = [:]

    mutating func note(
        _ version: Int64, of file: AssetKey, by program: Int32, in table: ProgramTable
    ) {
        if readers[program] == nil { makeRoom(table) }
        var reader = readers[program, default: Reader()]
        reader.versions[file] = version
        reader.files.use(file)
        if let oldest = reader.files.oldest(over: Self.filesMax) {
            reader.files.remove(oldest)
            reader.versions[oldest] = nil
        }
        readers[program] = reader
    }

    /// Returns the last version that one of the programs had. Returns nil when none has read the
    /// file.
    func version(of file: AssetKey, by programs: Set<Int32>) -> Int64? {
        programs.compactMap { readers[$0]?.versions[file] }.max()
    }

    private mutating func makeRoom(_ table: ProgramTable) {
        guard readers.count >= Self.programsMax else { return }
        readers = readers.filter { table.isRunning($0.key) }
        if readers.count >= Self.programsMax { readers = [:] }
    }
}

extension Tree {
    /// Notes that another program has opened the file. It reads the content of the file unless it
    /// empties the file first.
    func noteProgram(_ caller: Requester, of open: OpenAsset, flags: Int32) {
        guard let program = options.programs.program(caller.threadID) else { return }
        let writes = flags & O_ACCMODE != O_RDONLY
        let version = open.state.withLock { open in
            if writes { open.programs.insert(program) }
            return open.readVersion
        }
        guard let version, flags & O_TRUNC == 0, flags & O_ACCMODE != O_WRONLY else { return }
        note(version, of: open.place, by: [program])
    }

    private func note(_ version: Int64, of file: AssetKey, by programs: Set<Int32>) {
        let table = options.programs
        state.withLock { state in
            for program in programs {
                state.fieldReadings.note(version, of: file, by: program, in: table)
            }
        }
    }

    /// Notes that the record contains bytes that programs have made. A change of the file by
    /// another machine since the programs read it is a conflict.
    ///
    /// - Parameter begun: the version at the time of the open, for programs that have not read the
    ///   file.
    /// - Returns: the version with the bytes.
    @discardableResult
    func noteSaved(
        _ file: AssetKey, by programs: Set<Int32>, since begun: Int64? = nil,
        with transaction: Transaction
    ) throws(RecordError) -> Int64? {
        let read = state.withLock { $0.fieldReadings.version(of: file, by: programs) }
        if let since = read ?? begun {
            try transaction.noteLostField(
                file.field, file.index, of: file.record, since: since)
        }
        guard let version = try transaction.version(of: file.record) else { return nil }
        transaction.whenCommitted { [self] in note(version, of: file, by: programs) }
        return version
    }
}
