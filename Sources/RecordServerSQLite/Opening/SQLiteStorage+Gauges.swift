import Glibc
import RecordSQL
package import RecordServerCore
import RecordWire

extension SQLiteStorage {
    package func gauges() async -> [MetricsGauge] {
        guard !database.isInMemory else { return [] }
        let path = database.path
        do throws(ServerError) {
            return try await FileThreads.run { () throws(ServerError) in Self.gauges(path) }
        } catch { return [] }
    }

    private static func gauges(_ path: String) -> [MetricsGauge] {
        var disk = statvfs()
        let isKnown = statvfs(path, &disk) == 0
        let free = isKnown ? Int64(disk.f_bavail) * Int64(disk.f_frsize) : 0
        return [
            MetricsGauge("recordfs_database_bytes", "The database file.", size(path)),
            MetricsGauge(
                "recordfs_database_log_bytes", "The write-ahead log of the database.",
                size(path + "-wal")),
            MetricsGauge("recordfs_free_bytes", "Free space for data.", free),
        ]
    }

    private static func size(_ path: String) -> Int64 {
        var state = stat()
        return stat(path, &state) == 0 ? Int64(state.st_size) : 0
    }
}
