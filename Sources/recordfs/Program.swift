import ArgumentParser
import Glibc
import RecordModel

/// The program. Exit status: 0 done, 1 refused or failed, 2 wrong usage, 3 not found.
@main
enum Program {
    static func main() {
        // When a reader closes the pipe early, the command ends without a message, like cat.
        signal(SIGPIPE, SIG_DFL)
        do {
            let arguments = stateBehindCommand(try MountHelper.translate(CommandLine.arguments))
            var command = try RecordFSCommand.parseAsRoot(arguments)
            try command.run()
        } catch let failure as CommandFailure {
            failure.show()
            exit(failure.status)
        } catch {
            exit(show(error))
        }
    }

    /// Moves `--state DIR` from before the command to after it, because users may write it there
    /// too.
    private static func stateBehindCommand(_ arguments: [String]) -> [String] {
        var option: [String] = []
        var rest = arguments[...]
        if rest.first == "--state", rest.count > 1 {
            option = Array(rest.prefix(2))
            rest = rest.dropFirst(2)
        } else if let first = rest.first, first.hasPrefix("--state=") {
            option = [first]
            rest = rest.dropFirst()
        }
        var names: [String] = []
        var command: any ParsableCommand.Type = RecordFSCommand.self
        while let name = rest.first,
            let next = command.configuration.subcommands.first(where: { $0.isNamed(name) })
        {
            names.append(name)
            command = next
            rest = rest.dropFirst()
        }
        return names + option + rest
    }

    /// Prints help and version to standard output, and wrong usage to standard error.
    private static func show(_ error: any Error) -> Int32 {
        let message = RecordFSCommand.fullMessage(for: error)
        guard RecordFSCommand.exitCode(for: error) == .success else {
            if !message.isEmpty { Terminal.error(message) }
            return ExitStatus.usage
        }
        Terminal.print(message)
        return ExitStatus.success
    }
}

extension ParsableCommand {
    fileprivate static func isNamed(_ word: String) -> Bool {
        configuration.commandName == word || configuration.aliases.contains(word)
    }
}

struct RecordFSCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recordfs",
        abstract: "Records as files: JSON records in a crash-safe store, mounted as a directory.",
        discussion: """
            Write a record path as on the mount: private/ZONE/TYPE/NAME, with or without .json. \
            The path of a file on a mount works too, and means the store of that mount. See \
            recordfs(1).
            """,
        version: "recordfs \(ProgramVersion.number)",
        subcommands: [
            MountCommand.self, UnmountCommand.self, StatusCommand.self, ListCommand.self,
            GetCommand.self, PutCommand.self, NewCommand.self, SetCommand.self,
            EditCommand.self, CheckTextCommand.self, RemoveCommand.self, MoveCommand.self,
            QueryCommand.self, SearchCommand.self, SQLCommand.self, HistoryCommand.self,
            EventsCommand.self,
            ReadersCommand.self, MomentCommand.self,
            LogCommand.self, ShowCommand.self, DiffCommand.self, BlameCommand.self,
            UndoCommand.self, RedoCommand.self,
            RestoreCommand.self, DraftCommand.self, ScratchCommand.self, ImportCommand.self,
            ExportCommand.self,
            SchemaCommand.self, ModelCommand.self, ConflictsCommand.self,
            LoginCommand.self, LogoutCommand.self, AccountsCommand.self, SyncCommand.self,
            PauseCommand.self,
            ShareCommand.self, SharesCommand.self, AcceptCommand.self, DeclineCommand.self,
            LeaveCommand.self,
            CanCommand.self,
            ResumeCommand.self, RetryCommand.self, RevertCommand.self, PinCommand.self,
            UnpinCommand.self,
            TopCommand.self,
            CheckCommand.self, BackupCommand.self, DoctorCommand.self, GarbageCommand.self,
            DaemonLogCommand.self, ErrorsCommand.self, HookCommand.self,
            CompletionsCommand.self, CompleteCommand.self,
            DebugCommand.self, GuardCommand.self,
        ])
}
