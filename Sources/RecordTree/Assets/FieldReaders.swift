import Glibc
import RecordModel
import RecordStore

/// The programs that have read files of large fields.
final class FieldReaders: Sendable {
    let options: TreeOptions
    private let readings = StateLock(FieldReadings())

    init(_ ground: Ground) {
        options = ground.options
    }

    /// Notes that another program has opened the file. It reads the content of the file unless it
    /// empties the file first.
    func noteProgram(_ caller: Requester, of open: OpenAsset, flags: Int32) {
        guard let program = options.programs.program(caller.threadID) else { return }
        let writes = flags & O_ACCMODE != O_RDONLY
        let version = open.noteProgram(program, writes: writes)
        guard let version, flags & O_TRUNC == 0, flags & O_ACCMODE != O_WRONLY else { return }
        note(version, of: open.place, by: [program])
    }

    private func note(_ version: Int64, of file: AssetKey, by programs: Set<Int32>) {
        let table = options.programs
        readings.withLock { readings in
            for program in programs { readings.note(version, of: file, by: program, in: table) }
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
        let read = readings.withLock { $0.version(of: file, by: programs) }
        if let since = read ?? begun {
            try transaction.sharing.noteLostField(
                file.field, file.index, of: file.record, since: since)
        }
        guard let version = try transaction.sharing.version(of: file.record) else { return nil }
        transaction.whenCommitted { [self] in note(version, of: file, by: programs) }
        return version
    }
}
