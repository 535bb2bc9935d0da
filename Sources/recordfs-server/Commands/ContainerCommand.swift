import ArgumentParser
import RecordModel
import RecordServerCore
import RecordWire

/// `recordfs-server container ...`
struct ContainerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "container", abstract: "Create containers and change their schemas.",
        subcommands: [
            Create.self, Change.self, List.self, Delete.self, SchemaCommand.self,
        ])
}

extension ContainerCommand {
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a container with its two environments.")

        @OptionGroup var data: DataOptions
        @OptionGroup var container: ContainerName
        @Option(help: "The title that people see when they sign in.")
        var title: String?

        func run() async throws {
            try await OpenedData.use(data) { (data) throws(ServerError) in
                try await data.accounts.createContainer(
                    container.text, title: title.map { Text($0) })
            }
        }
    }

    struct Change: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Change a container's title.")

        @OptionGroup var data: DataOptions
        @OptionGroup var container: ContainerName
        @Option(help: "The title that people see when they sign in; an empty one removes it.")
        var title: String

        func run() async throws {
            try await OpenedData.use(data) { (data) throws(ServerError) in
                try await data.accounts.setTitle(Text(title), of: container.text)
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
                var table = Table(["container", "title"])
                for container in try await data.accounts.titledContainers() {
                    table.add(.text(container.name), .text(container.title ?? ""))
                }
                table.print(asJSON: json)
            }
        }
    }
}
