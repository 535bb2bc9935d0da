import ArgumentParser
import RecordModel
import RecordServer
import RecordWire

/// The options that a command needs before it destroys something.
struct Consent: ParsableArguments {
    @Flag(help: "Show what would be removed, and change nothing.")
    var dryRun = false
    @Flag(help: "Remove it.")
    var yes = false

    /// Returns whether the command may go on. Prints the things that it removes, or would remove.
    ///
    /// Errors: a message when the person has given neither option.
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
                "This removes \(what) with \(list) permanently. Use --yes to do it, or --dry-run to look. "
                    + "Only an earlier backup (`recordfs-server backup`) can bring it back.")
        }
        print("Removed \(what) with \(list).")
        return true
    }
}

extension ContainerCommand {
    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a container with all records, in both environments.")

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
