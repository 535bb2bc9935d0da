import Glibc
import RecordModel
import RecordStore

/// The version of a record that each program had when it read a file of the record's large fields.
/// A file that a program saves after another machine has changed it is a conflict, because bytes
/// are not merged.
///
/// The memory is bounded as in `Readings`: for each program the files that it read last, and among
/// the programs first those that are running.
///
/// INVARIANT: each file of a reader is among its last used.
struct FieldReadings: CheckedState {
    struct Reader {
        var versions: [AssetKey: Int64] = [:]
        var files = RecentUses<AssetKey>()
    }

    private static let filesMax = 64
    private static let programsMax = 1024

    private(set) var readers: [Int32: Reader] = [:]

    var size: Int { readers.count }

    var violations: [String] {
        readers.values.contains { !Set($0.files.keys).isSuperset(of: $0.versions.keys) }
            ? ["a version is never forgotten"] : []
    }

    mutating func note(
        _ version: Int64, of file: AssetKey, by program: Int32, in table: ProgramTable
    ) {
        if readers[program] == nil { makeRoom(table) }
        // Taken out, so that its dictionaries are changed in place.
        var reader = readers.removeValue(forKey: program) ?? Reader()
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
