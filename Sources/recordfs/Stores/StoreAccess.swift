import Glibc
import Logging
import RecordControl
import RecordModel
import RecordStore
import RecordSync

/// A store, and the access of a command to it.
struct StoreAccess {
    /// The state directory of the store.
    let directory: String

    init(_ directory: String) { self.directory = directory }

    /// Indicates whether it is the store that commands use when no other is named.
    var isDefault: Bool { HostDirectory.isSame(directory, HostPaths.state) }

    /// Returns the subject of a message, with the store when it is not the default one.
    func subject(_ text: String?) -> String? {
        if isDefault || text == directory { return text }
        return text.map { "\($0) (store \(directory))" } ?? "store \(directory)"
    }

    /// Runs the body. An error of the project becomes the failure of the command, about `subject`
    /// in this store.
    func reporting<T>(
        _ subject: String? = nil, _ body: () throws(RecordError) -> T
    ) throws(CommandFailure) -> T {
        do {
            return try body()
        } catch {
            throw CommandFailure(self.subject(subject), error)
        }
    }

    /// Returns the settings of this store in config.json.
    func settings() throws(CommandFailure) -> StoreSettings {
        do {
            return try Configuration.read().settings(ofState: directory)
        } catch {
            throw CommandFailure(HostPaths.configuration, error)
        }
    }

    func storeOptions() throws(CommandFailure) -> StoreOptions {
        StoreOptions(
            grace: try settings().grace,
            logger: Logger(label: "recordfs") { _ in SwiftLogNoOpLogHandler() })
    }

    /// Opens the store for reading. Another process may write it at the same time.
    func reader() throws(CommandFailure) -> RecordStore {
        let options = try storeOptions()
        return try reporting { () throws(RecordError) in
            do throws(RecordError) {
                return try RecordStore.openForReading(directory: directory, options: options)
            } catch {
                guard error.code == .notFound else { throw error }
                throw RecordError(
                    .notFound,
                    "there is no store in \(directory) yet. Mount it, or put a record.")
            }
        }
    }

    /// Runs the body with a way to change the store.
    func write<T>(_ body: (StoreWriter) throws -> T) throws -> T {
        let options = try storeOptions()
        let author = try CommandAuthor.named()
        let writer = try reporting { () throws(RecordError) in
            try StoreWriter.open(directory: directory, options: options, author: author)
        }
        let result: T
        do {
            result = try body(writer)
        } catch {
            try reporting { () throws(RecordError) in try writer.close() }
            throw error
        }
        try reporting { () throws(RecordError) in try writer.close() }
        return result
    }

    /// Sends one request to the store.
    @discardableResult
    func perform(_ request: ControlRequest, about subject: String?) throws -> ControlReply {
        try write { writer in
            try reporting(subject) { () throws(RecordError) in try writer.perform(request) }
        }
    }

    /// Returns the status of the store's daemon. Returns nil when none runs.
    func daemon(timeoutSeconds: Int) throws(RecordError) -> JSONValue? {
        try ControlClient.connect(directory: directory, timeoutSeconds: timeoutSeconds)?
            .perform(.status).result
    }

    /// Indicates whether a user has ever signed in to a server with this store. If not, nothing
    /// waits for a server.
    var hasServer: Bool {
        do throws(RecordError) {
            return try AccountFile(stateDirectory: directory).read() != nil
        } catch {
            return true
        }
    }
}
