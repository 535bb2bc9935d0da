import ArgumentParser
import Logging
import RecordControl
import RecordModel
import RecordStore

/// The store that a command works on, and how it gets at it.
struct StateOptions: ParsableArguments {
    @Option(
        name: .customLong("state"),
        help: "The state directory of the store. Also RECORDFS_STATE.")
    var directoryArgument: String?

    var directory: String { directoryArgument.map(Places.absolute) ?? Places.state }

    func configuration() throws(CommandFailure) -> Configuration {
        try reporting(Places.configuration) { () throws(RecordError) in
            try Configuration.read()
        }
    }

    func storeOptions() throws(CommandFailure) -> StoreOptions {
        StoreOptions(
            grace: try configuration().grace,
            logger: Logger(label: "recordfs") { _ in SwiftLogNoOpLogHandler() })
    }

    /// The store for reading, beside whoever writes it.
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
        let writer = try reporting { () throws(RecordError) in
            try StoreWriter.open(directory: directory, options: options)
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

    /// Asks one thing of the store.
    @discardableResult
    func perform(_ request: ControlRequest, about subject: String?) throws -> ControlReply {
        try write { writer in
            try reporting(subject) { () throws(RecordError) in try writer.perform(request) }
        }
    }
}
