import ArgumentParser
import RecordControl
import RecordModel
import Synchronization

/// The author of what a command changes.
enum CommandAuthor {
    private static let option = Mutex<AuthorName?>(nil)

    fileprivate static func set(_ author: AuthorName) { option.withLock { $0 = author } }

    /// Returns the author that `--author` or RECORDFS_AUTHOR names. Errors: the variable has no valid
    /// name.
    static func named() throws(CommandFailure) -> AuthorName? {
        if let author = option.withLock(\.self) { return author }
        guard let text = environmentVariable("RECORDFS_AUTHOR") else { return nil }
        do throws(RecordError) {
            return try AuthorName(text)
        } catch {
            throw CommandFailure("RECORDFS_AUTHOR", error.message, status: ExitStatus.usage)
        }
    }
}

/// The option of commands that change records.
struct AuthorOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The author of the change, for recordfs events and history. RECORDFS_AUTHOR sets it too.",
            valueName: "name"))
    var author: AuthorName?

    func validate() throws {
        if let author { CommandAuthor.set(author) }
    }
}

extension AuthorName: ExpressibleByArgument {
    /// Reads an argument: a valid name.
    public init?(argument: String) {
        do throws(RecordError) {
            try self.init(argument)
        } catch {
            return nil
        }
    }
}
