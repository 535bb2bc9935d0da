import ArgumentParser
import Glibc
import RecordControl
import RecordDaemon
import RecordModel
import RecordStore

extension ShellHook: ExpressibleByArgument {}

struct HookCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hook",
        abstract: "Print the shell lines that report refused saves.",
        discussion: """
            Put one of these lines into the start file of your shell:

              eval "$(recordfs hook bash)"        ~/.bashrc
              eval "$(recordfs hook zsh)"         ~/.zshrc
              recordfs hook fish | source         ~/.config/fish/config.fish

            Before its next prompt, the shell then prints one line for each save that one of your \
            mounts refused, whichever program saved. On a desktop with notify-send installed, the \
            mount also shows a notice; set RECORDFS_DESKTOP=off before recordfs mount to turn that \
            off.
            """)

    @Argument(help: "bash, zsh or fish.")
    var shell: ShellHook

    func run() throws {
        // Only an existing file can be watched from now on.
        try reporting(HostPaths.refusalLog) { () throws(RecordError) in
            try HostDirectory.make(HostPaths.logs)
            let descriptor = open(
                HostPaths.refusalLog, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else {
                throw RecordError(
                    .ioFailure, "cannot be made: \(String(cString: strerror(errno))).")
            }
            close(descriptor)
        }
        Terminal.print(Array(shell.script(file: HostPaths.refusalLog).utf8))
    }
}

struct ErrorsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "errors",
        abstract: "List the records that could not be saved or sent, with reasons.",
        discussion: """
            With --follow, the command then prints one line for each save that one of your mounts \
            refuses, until Ctrl-C. Use it for tmux, i3 and other panels.
            """)

    @OptionGroup var state: StateOptions
    @Flag(name: .shortAndLong, help: "Then print each refused save as it happens.")
    var follow = false
    @Flag(help: "Print one JSON object for each record.")
    var json = false

    func run() throws {
        let access = try state.access()
        let store = try access.reader()
        let listed = try access.reporting { () throws(RecordError) in
            try RefusedRecords.all(in: store)
        }
        for record in listed {
            if json {
                Showing.jsonLine(record.json)
            } else {
                Terminal.print("\(record.path): \(record.words.onOneLine)")
            }
        }
        try showUnsaved(access)
        if follow { try tail() }
    }

    /// Shows the texts that only the daemon has, because the disk is full. `close` reported each of
    /// them, but some programs ignore its answer.
    private func showUnsaved(_ access: StoreAccess) throws {
        let daemon = try access.reporting { () throws(RecordError) in
            try access.daemon(timeoutSeconds: 10)
        }
        let unsaved = UnsavedRecords(of: daemon)
        guard !unsaved.isEmpty else { return }
        if json {
            Showing.jsonLine(
                .members([
                    "kind": .text("unsaved"), "unsaved": unsaved.numberMember,
                    "paths": unsaved.namesMember,
                ]))
        } else {
            Terminal.print(unsaved.description(ofStore: access.directory))
        }
    }

    private func tail() throws {
        let watch = try reporting(HostPaths.logs) { () throws(RecordError) in
            try HostDirectory.make(HostPaths.logs)
            return try DirectoryWatch(directory: HostPaths.logs)
        }
        var offset = size
        while true {
            if size < offset { offset = 0 }
            if size > offset {
                let text = try reporting(HostPaths.refusalLog) { () throws(RecordError) in
                    Array(try readWholeFile(HostPaths.refusalLog).dropFirst(Int(offset)))
                }
                let whole = text.prefix((text.lastIndex(of: 0x0A) ?? -1) + 1)
                for line in whole.split(separator: 0x0A) { show(Array(line)) }
                offset += off_t(whole.count)
            }
            watch.wait()
        }
    }

    private var size: off_t {
        var status = stat()
        return stat(HostPaths.refusalLog, &status) == 0 ? status.st_size : 0
    }

    private func show(_ line: [UInt8]) {
        let parts = String(decoding: line, as: UTF8.self).split(separator: "\t", maxSplits: 2)
        guard parts.count == 3, parts[0] == "refused" else { return }
        if json {
            Showing.jsonLine(
                .members(["path": .text(String(parts[1])), "error": .text(String(parts[2]))]))
        } else {
            Terminal.print("\(parts[1]): \(parts[2])")
        }
    }
}

/// The records that could not be saved on this machine, and the changes that the server has
/// refused.
enum RefusedRecords {
    static func all(in store: RecordStore) throws(RecordError) -> [ListedRecord] {
        var found: [ListedRecord] = []
        for draft in try store.drafts() {
            guard let type = try store.type(draft.type), let zone = try store.zone(type.zone)
            else { continue }
            let path = RecordPath(
                database: zone.database, owner: zone.owner, zone: zone.name, type: type.name,
                item: .record(draft.stem))
            found.append(
                ListedRecord(
                    path: path, words: "not saved: \(draft.error)",
                    json: .members([
                        "path": .text(path.bytes), "since": .text(Showing.time(draft.since)),
                        "kind": .text("draft"), "error": draft.error.json,
                    ])))
        }
        for row in try store.syncState.refusedChanges() {
            guard let zone = try store.zone(row.zone), let error = row.error else { continue }
            let path = RecordPath(
                database: zone.database, owner: zone.owner, zone: zone.name, type: row.type,
                item: .record(Stem(encoding: row.name)))
            found.append(
                ListedRecord(
                    path: path, words: "not sent: \(error)",
                    json: .members([
                        "path": .text(path.bytes), "since": .text(Showing.time(row.last)),
                        "kind": .text("upload"), "error": .text(error),
                    ])))
        }
        return found
    }
}
