import RecordModel
import RecordServer
import RecordServerCore
import RecordServerHTTP
import RecordServerSQLite
import RecordWire
import Synchronization
package import TestSupport

extension TestServer {
    /// A backup of what is there now, as an operator makes it.
    package func backUp() async throws -> TemporaryDirectory {
        guard let storage = storage as? any OperatedStorage else {
            throw TestServerError("The storage cannot be backed up.")
        }
        let directory = try TemporaryDirectory()
        try await storage.backup(
            to: directory.path, assets: try AssetDirectory(path: assetPath))
        return directory
    }

    /// No operator stops a server, restores it and starts it faster. Restore points are as far apart
    /// at least, so that clients know those of two restores from each other.
    private static let timeOfRestore: Duration = .seconds(10)

    /// Takes a server of one instance back to a backup; it has forgotten all that came after it.
    package func restore(_ backup: TemporaryDirectory) async throws {
        let files = try TemporaryDirectory()
        var configuration = configuration
        configuration.dataDirectory = files.path + "/data"
        clock.advance(Self.timeOfRestore)
        try await StorageFactory.restore(
            backup.path, to: configuration, keepsSessions: true, clock: clock)
        let path = configuration.dataDirectory + "/records.sqlite"
        let storage = try SQLiteStorage.open(path: path, synchronous: .normal)
        let incarnation = try await storage.read { (reader) throws(ServerError) in
            try reader.setting(ServerSetting.incarnation)
        }
        let assetPath = configuration.dataDirectory + "/assets"
        let application = ServerApplication(
            configuration: self.configuration, storage: storage,
            assets: try AssetDirectory(path: assetPath),
            seal: Self.seal(incarnation: incarnation ?? []), clock: clock, logger: logger,
            links: links)
        life.withLock {
            $0 = Life(
                applications: [application], storage: storage, files: files,
                assetPath: assetPath)
        }
        tokens.withLock { $0 = [:] }
        callers.withLock { $0 = [:] }
    }
}
