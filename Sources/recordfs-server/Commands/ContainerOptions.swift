import ArgumentParser
import RecordModel
import RecordWire

/// The container of a command.
struct ContainerName: ParsableArguments {
    @Argument(help: "The container, such as iCloud.org.example.app.")
    var container: String

    var text: Text { Text(container) }
}

/// The environment of a command.
struct EnvironmentOption: ParsableArguments {
    @Option(help: "development or production.")
    var environment: ServerEnvironment = .development
}

extension ServerEnvironment: ExpressibleByArgument {}
