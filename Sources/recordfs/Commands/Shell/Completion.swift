import ArgumentParser
import RecordControl
import RecordModel
import RecordStore

/// The candidates for the end of a command line.
struct Completion {
    private enum Kind {
        case path, file, directory, nothing
        /// A token of the log; a moment; the name of a moment; a moment or a path.
        case entry, moment, momentName, momentOrPath
        /// A path or a field of the record type of the first path; such a field.
        case pathOrField, field
        case words([String])
    }

    /// The largest number of record names that are offered.
    private static let limit = 2000

    let words: [String]
    let state: StateOptions

    /// Creates a completion.
    ///
    /// - Parameter state: the options of the command that completes. `--state` in the line takes
    ///   precedence.
    init(words: [String], state: StateOptions) {
        self.words = words
        var state = state
        if let index = words.firstIndex(of: "--state"), index + 1 < words.count {
            state.directoryArgument = words[index + 1]
        }
        self.state = state
    }

    /// Returns candidates for the last word of the line.
    func line() -> [String] {
        let current = words.last ?? ""
        let before = Array(words.dropLast())
        var command: any ParsableCommand.Type = RecordFSCommand.self
        var names: [String] = []
        var positionals = 0
        var first: String?
        var previousOption: String?
        for word in before {
            if let next = Self.subcommands(of: command).first(where: { $0.matches(word) }) {
                command = next.type
                names.append(next.name)
            } else if word.hasPrefix("-") {
                previousOption = word
                continue
            } else if previousOption.map(Self.takesValue) != true {
                positionals += 1
                first = first ?? word
            }
            previousOption = nil
        }
        if let previousOption, Self.takesValue(previousOption) {
            return candidates(Self.value(of: previousOption), current, first)
        }
        if current.hasPrefix("-") {
            return Self.options(of: command).filter { $0.hasPrefix(current) }
        }
        let subcommands = Self.subcommands(of: command)
        if !subcommands.isEmpty {
            let names = subcommands.map(\.name).filter { $0.hasPrefix(current) }
            return command.configuration.defaultSubcommand == nil ? names : names + paths(current)
        }
        return candidates(
            Self.argument(of: names.joined(separator: " "), positionals), current, first)
    }

    /// Returns record paths that begin with this text, as record paths, or as paths of files on a
    /// mount, also relative ones. A path that can continue ends with a slash.
    func paths(_ prefix: String) -> [String] {
        let cut = prefix.lastIndex(of: "/").map(prefix.index(after:)) ?? prefix.startIndex
        let folder = String(prefix[..<cut])
        let rest = String(prefix[cut...])
        var words: [String] = []
        if folder.isEmpty {
            words = Database.allCases.map { "\($0.name)/" }.filter { $0.hasPrefix(prefix) }
        } else if !PathArgument.isRecordPath(folder), MountedPath(folder).mount == nil {
            return [":directories"]
        }
        do {
            let place = try PathArgument(argument: folder.isEmpty ? "." : folder)
                .located(by: state)
            let entries = try Self.entries(
                in: place.path, of: try place.store.reader(), beginningWith: rest)
            words += entries.map { folder + $0 }.filter { !words.contains($0) }
        } catch {
            // There are no candidates when there is nothing at the path.
        }
        return words
    }

    private static func entries(
        in path: RecordPath, of store: RecordStore, beginningWith prefix: String
    ) throws(RecordError) -> [String] {
        if path.item != nil { return [] }
        if path.type != nil {
            let type = try store.type(at: path).id
            var stems = try store.stems(
                in: type, beginningWith: Array(prefix.utf8), limit: limit)
            // `soup.js` is the beginning of soup's file name, not of a stem.
            for count in 1...5 where prefix.hasSuffix(".json".prefix(count)) {
                let stem = Stem(bytes: Array(prefix.utf8.dropLast(count)))
                if let entry = try store.record(type, stem), !entry.isHidden {
                    stems.append(stem)
                }
            }
            return stems.map { "\($0).json" }
        }
        return try folders(in: path, of: store).filter { $0.hasPrefix(prefix) }
    }

    private static func folders(
        in path: RecordPath, of store: RecordStore
    ) throws(RecordError) -> [String] {
        if path.zone != nil {
            return try store.model.shownTypes(in: try store.zone(at: path).id).map { "\($0.name)/" }
        }
        guard let database = path.database else {
            return Database.allCases.map { "\($0.name)/" }
        }
        let zones = try store.zones(in: database)
        let names =
            database == .shared && path.owner == .me
            ? Set(zones.map(\.owner)).map(\.fileName)
            : zones.filter { $0.owner == path.owner }.map { NameCodec.encode($0.name.bytes) }
        return names.map { String(decoding: $0, as: UTF8.self) + "/" }.sorted()
    }

    private func candidates(_ kind: Kind, _ current: String, _ first: String?) -> [String] {
        switch kind {
        case .entry: moments(current, withNames: false)
        case .moment: moments(current, withNames: true)
        case .momentName: momentNames(current)
        case .momentOrPath: moments(current, withNames: true) + paths(current)
        case .pathOrField: fields(of: first, current) + paths(current)
        case .field: fields(of: first, current)
        case .path: paths(current)
        case .file: [":files"]
        case .directory: [":directories"]
        case .nothing: []
        case .words(let words): words.filter { $0.hasPrefix(current) }
        }
    }

    private static func argument(of command: String, _ position: Int) -> Kind {
        switch command {
        case "mount", "unmount", "backup": .directory
        case "import": position == 0 ? .file : .path
        case "put": position == 0 ? .path : .file
        case "schema check", "schema apply", "schema init", "model diff": .file
        case "model show", "model check", "model export", "model attach":
            position == 0 ? .file : .nothing
        case "completions": .words(CompletionsCommand.Shell.allCases.map(\.rawValue))
        case "show", "undo", "redo": position == 0 ? .entry : .nothing
        case "diff": position < 2 ? .momentOrPath : .path
        case "moment delete": position == 0 ? .momentName : .nothing
        case "query": position == 0 ? .path : .field
        case "set": position == 0 ? .path : .pathOrField
        case "log", "blame": position == 0 ? .path : .nothing
        case "search", "get", "new", "history", "restore", "export", "draft list",
            "draft show", "draft discard":
            position == 0 ? .path : .nothing
        case "ls", "rm", "mv", "pin", "unpin", "leave", "edit": .path
        case "check": .file
        case "can":
            position == 0 ? .words(CanCommand.What.allCases.map(\.rawValue)) : .path
        case _ where command.hasPrefix("share "): position == 0 ? .path : .nothing
        default: .nothing
        }
    }

    private static func value(of option: String) -> Kind {
        switch option {
        case "--state": .directory
        case "--at", "--since", "--until": .moment
        case "--output", "--deployed", "--of", "--patch": .file
        case "--type": .path
        case "--form": .words(ModelForm.allCases.map(\.rawValue))
        case "--format": .words(TransferFormat.allCases.map(\.rawValue))
        case "--level": .words(LogLevel.allCases.map(\.rawValue))
        case "-o": .words(["ro", "allow_other", "xattr", "nonempty", "grace=", "cache=", "state="])
        default: .nothing
        }
    }

    private static func takesValue(_ option: String) -> Bool {
        [
            "--state", "--output", "-o", "--format", "--at", "--name-field", "--show", "--token",
            "--since", "--until", "--after", "--level", "--category", "--if", "--patch", "--type",
            "--timeout",
            "--zone", "--largest-version", "--configuration", "--model-version", "--deployed",
            "--of", "--form",
        ]
        .contains(option)
    }
}

extension Completion {
    struct Subcommand {
        let name: String
        let aliases: [String]
        let type: any ParsableCommand.Type

        func matches(_ word: String) -> Bool { word == name || aliases.contains(word) }
    }

    static func subcommands(of command: any ParsableCommand.Type) -> [Subcommand] {
        command.configuration.subcommands.compactMap { type in
            let configuration = type.configuration
            guard configuration.shouldDisplay, let name = configuration.commandName else {
                return nil
            }
            return Subcommand(name: name, aliases: configuration.aliases, type: type)
        }
    }

    /// Returns the options in the command's help, which is generated from its declarations.
    static func options(of command: any ParsableCommand.Type) -> [String] {
        let text = RecordFSCommand.helpMessage(for: command, columns: 200)
        var options: [String] = []
        for word in text.split(whereSeparator: { " \n,[]()".contains($0) })
        where word.hasPrefix("--") && word.count > 2 {
            let option = String(word.prefix { $0 == "-" || $0.isLetter })
            if option != "--version", !options.contains(option) {
                options.append(option)
            }
        }
        return options.sorted()
    }
}
