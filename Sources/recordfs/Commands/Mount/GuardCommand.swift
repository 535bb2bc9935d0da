import ArgumentParser
import RecordMount

/// The hidden command for the process beside a mount that ends its connection when the daemon is
/// killed.
struct GuardCommand: ParsableCommand {
    static let name = "guard-connection"
    static let configuration = CommandConfiguration(
        commandName: name, abstract: "End the connection of a killed daemon.",
        shouldDisplay: false)

    @Argument(help: "The argument that the daemon passes.")
    var words: [String] = []

    func run() {
        MountDaemon.guardConnection(words)
    }
}
