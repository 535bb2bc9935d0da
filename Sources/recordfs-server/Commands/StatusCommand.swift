import ArgumentParser
import RecordModel
import RecordServer
import RecordServerCore
import RecordWire

/// `recordfs-server status`
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show whether the server runs, and how much it stores.")

    @OptionGroup var data: DataOptions
    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let running = DataDirectory(data.directory).runningServer()
        try await OpenedData.use(data) { (opened) throws(ServerError) in
            var table = Table(["what", "value"])
            func add(_ what: Text, _ value: String) { table.add(.text(what), .text(Text(value))) }
            add("version", ProgramVersion.number)
            add("data", data.directory)
            add("running", Self.words(running))
            for gauge in await opened.storage.gauges() {
                let name = gauge.name.replacing("recordfs_", with: "").replacing("_", with: " ")
                add(
                    Text(name.replacing(" bytes", with: "")), ByteSize.text(gauge.value))
            }
            let users = try await opened.accounts.users()
            let disabled = users.count(where: \.isDisabled)
            add("users", "\(users.count)" + (disabled > 0 ? ", \(disabled) of them disabled" : ""))
            let used = try await opened.accounts.usedBytes()
            add("records and assets of users", ByteSize.text(used.values.reduce(0, +)))
            add("containers", "\(try await opened.accounts.containers().count)")
            add("reports", "\(try await opened.accounts.reports().count)")
            table.print(asJSON: json)
        }
    }

    private static func words(_ running: (process: Int32, address: String?)?) -> String {
        guard let running else { return "no" }
        let process = running.process > 0 ? "yes, process \(running.process)" : "yes"
        return running.address.map { "\(process), at \($0)" } ?? process
    }
}
