import ArgumentParser
import RecordModel
import RecordServer
import RecordWire

/// `recordfs-server container ...`
struct ContainerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "container", abstract: "Create containers and change their schemas.",
        subcommands: [Create.self, List.self, SchemaCommand.self])
}

extension ContainerCommand {
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a container with its two environments.")

        @OptionGroup var data: DataOptions
        @OptionGroup var container: ContainerName

        func run() async throws {
            try await OpenedData.use(data) { (data) throws(ServerError) in
                try await data.accounts.createContainer(container.text)
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List all containers.")

        @OptionGroup var data: DataOptions
        @Flag(help: "Print JSON.")
        var json = false

        func run() async throws {
            try await OpenedData.use(data) { (data) throws(ServerError) in
                var table = Table(["container"])
                for name in try await data.accounts.containers() { table.add(.text(name)) }
                table.print(asJSON: json)
            }
        }
    }
}
