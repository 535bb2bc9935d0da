import ArgumentParser

struct ShareCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "share", abstract: "Share a zone, or a record and its children.",
        discussion: """
            Others accept the link with recordfs accept. They find the records under shared/. Only \
            invited people can accept; after permit PATH everyone, anyone with the link can. \
            Shared records count towards the quota of their owner. recordfs share PATH prints the \
            link of a share, on a terminal also as a QR code.
            """,
        subcommands: [
            ShareCodeCommand.self, ShareCreateCommand.self, ShareShowCommand.self,
            ShareSetCommand.self, ShareThumbnailCommand.self, ShareAddCommand.self,
            ShareRemoveCommand.self, SharePermitCommand.self, ShareURLCommand.self,
            ShareStopCommand.self, ShareLinkCommand.self, ShareRequestsCommand.self,
            ShareApproveCommand.self, ShareDenyCommand.self,
        ],
        defaultSubcommand: ShareCodeCommand.self)
}
