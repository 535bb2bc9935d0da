import RecordModel
import RecordServer
import RecordServerCore
import RecordServerHTTP
import RecordWire

/// The data of a server, opened by a command, also while the server runs.
struct OpenedData {
    let storage: any OperatedStorage
    let accounts: Accounts
    let now = SystemClock().now

    /// Opens the data. Errors: a message when there are none.
    init(_ options: DataOptions) throws { try self.init(in: options.directory) }

    /// Opens the data. Errors: a message when there are none.
    init(in directory: String) throws {
        do throws(ServerError) {
            try DataDirectory(directory).requireNoFile()
        } catch {
            throw CommandFailure(error)
        }
        var configuration = ServerConfiguration()
        configuration.dataDirectory = directory
        guard StorageFactory.exists(configuration) else {
            throw CommandFailure(
                "There is no server's data in \(directory). Run `recordfs-server serve` "
                    + "once, or name the directory with --data.")
        }
        do throws(ServerError) {
            storage = try StorageFactory.open(configuration)
        } catch {
            throw CommandFailure(error)
        }
        accounts = Accounts(storage: storage)
    }

    /// Opens the data, runs the command and closes the data. Errors become messages for people.
    static func use(
        _ options: DataOptions, _ body: (OpenedData) async throws(ServerError) -> Void
    ) async throws {
        let data = try OpenedData(options)
        do throws(ServerError) {
            try await body(data)
        } catch {
            throw CommandFailure(error)
        }
    }
}
