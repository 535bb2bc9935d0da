import ArgumentParser
import RecordModel
import RecordServer
import RecordWire

/// What a command that destroys something wants to hear.
struct Consent: ParsableArguments {
    @Flag(help: "Show what would go, and change nothing.")
    var dryRun = false
    @Flag(help: "Do it.")
    var yes = false

    /// Whether it is to be done. Prints what goes, or would go.
    ///
    /// Errors: a message for who has not said what to do.
    func isGiven(_ what: String, _ removal: Removal) throws(ServerError) -> Bool {
        let parts = [
            ("zones", Int64(removal.zones)), ("records", removal.records),
            ("shares", Int64(removal.shares)), ("shares of others", Int64(removal.sharesOfOthers)),
            ("API tokens", Int64(removal.tokens)), ("keys", Int64(removal.keys)),
            ("sign-ins", Int64(removal.sessions)),
        ].filter { $0.1 > 0 }.map { "\($0.1) \($0.0)" }
        let list = parts.isEmpty ? "nothing else" : parts.joined(separator: ", ")
        if dryRun {
            print("Would remove \(what) with \(list).")
            return false
        }
        guard yes else {
            throw ServerError(
                .badRequest,
                "This removes \(what) with \(list), for good. Say --yes, or look with --dry-run. A backup "
                    + "before (`recordfs-server backup`) is the only way back.")
        }
        print("Removed \(what) with \(list).")
        return true
    }
}

extension ContainerCommand {
    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a container with the records of everybody in both environments.")

        @OptionGroup var data: DataOptions
        @OptionGroup var container: ContainerName
        @OptionGroup var consent: Consent

        func run() async throws {
            try await OpenedData.use(data) { (data) throws(ServerError) in
                let removal = try await data.accounts.removal(ofContainer: container.text)
                guard try consent.isGiven("the container \(container.text)", removal) else {
                    return
                }
                _ = try await data.accounts.deleteContainer(container.text)
            }
        }
    }
}
