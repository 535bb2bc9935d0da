import Glibc
import RecordModel
import RecordStore
import Synchronization

/// Which version of a record programs have had when they read a file of its large fields, so that a file which one of
/// them saves later and which another machine has changed since is a conflict: bytes are not merged.
///
/// Bounded as `Readings`: of each program what it read last, and of the programs first those that run.
struct FieldReadings {
    private struct Reader {
        var versions: [AssetKey: Int64] = [:]
        /// In the order in which they were read first.
        var order: [AssetKey] = []
    }

    private static let filesMax = 64
    private static let programsMax = 1024

    private var readers: [Int32: Reader] = [:]

    mutating func note(
        _ version: Int64, of file: AssetKey, by program: Int32, in table: ProgramTable
    ) {
        if readers[program] == nil { makeRoom(table) }
        var reader = readers[program, default: Reader()]
        if reader.versions.updateValue(version, forKey: file) == nil { reader.order.append(file) }
        if reader.order.count > Self.filesMax { reader.versions[reader.order.removeFirst()] = nil }
        readers[program] = reader
    }

    /// Gives the last version that one of the programs has had; nil when none has read the file.
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
    /// An open file has one more program, which reads what it shows unless it empties it first.
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

    /// Bytes that programs have made are in the record now: what another machine has made of the file since they read
    /// it is a conflict.
    ///
    /// - Parameter begun: the version that an open file began with, for those who have not read it.
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
