import ArgumentParser
import RecordModel

@main
struct RecordFSServer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recordfs-server", abstract: "A self-hosted record server.",
        version: "recordfs-server \(ProgramVersion.number)",
        subcommands: [
            ServeCommand.self, StatusCommand.self, DoctorCommand.self, ConfigurationCommand.self,
            BackupCommand.self, RestoreCommand.self, UserCommand.self, TokenCommand.self,
            KeyCommand.self, ContainerCommand.self, ReportCommand.self, SealKeyCommand.self,
            JoinLinkCommand.self,
        ])
}
