import ArgumentParser
import RecordMount

/// Hidden: the process beside a mount that ends its connection when the daemon is killed.
struct GuardCommand: ParsableCommand {
    static let name = "guard-connection"
    static let configuration = CommandConfiguration(
        commandName: name, abstract: "End the connection of a killed daemon.",
        shouldDisplay: false)

    @Argument(help: "What the daemon starts it with.")
    var words: [String] = []

    func run() {
        MountDaemon.guardConnection(words)
    }
}
