import Foundation
import Logging
import RecordModel
import RecordStore
import TestSupport

/// The database of a store in which nothing was ever saved: made once in each process, for making one
/// takes as long as half a history.
enum EmptyStore {
    /// Makes a directory for a new store.
    static func makeDirectory() throws -> TemporaryDirectory {
        let directory = try TemporaryDirectory()
        try database.get().write(to: URL(fileURLWithPath: directory.path + "/store.sqlite"))
        return directory
    }

    private static let database = Result<Data, any Error> {
        let directory = try TemporaryDirectory()
        var options = StoreOptions()
        options.logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        // All of it is in the database when the store is closed.
        try RecordStore.open(directory: directory.path, options: options).close()
        return try Data(contentsOf: URL(fileURLWithPath: directory.path + "/store.sqlite"))
    }
}
