import Testing

/// One way in which people change a file, driven without a person.
struct ToolCase: Sendable, CustomTestStringConvertible {
    /// As the compatibility table shows it, e.g. `vim (backupcopy=auto)`.
    let name: String
    var valid = Edit.valid
    var invalid: Edit? = Edit.invalid
    /// The bytes that the valid edit leaves, when it is not the substitution alone.
    var expected: (@Sendable (Edit) -> String)?
    var expectedInvalid: (@Sendable (Edit) -> String)?
    /// History rows of the valid edit: 0 when the values stay the same.
    var historyRows = 1
    var failure = Failure.told
    /// The line of the first error in the bad text.
    var errorLine = 3
    /// What the tool does when its bad edit is refused.
    enum Failure: Sendable {
        /// It says so; the text stays as a draft.
        case told
        /// It ignores what close answers; the text stays as a draft.
        case silent
        /// It says so, and the old file is there again or still.
        case undone
    }

    let run: @Sendable (ToolPlace, Edit) throws -> ChildResult

    var testDescription: String { name }

    func expectedText(_ edit: Edit) -> String { (expected ?? { $0.new })(edit) }
    func expectedInvalidText(_ edit: Edit) -> String { (expectedInvalid ?? { $0.new })(edit) }
}

/// A change of one value in a small record: `find` becomes `replace`.
struct Edit: Sendable {
    static let old = """
        {
          "title": "Tom yum soup",
          "servings": 4,
          "cuisine": "thai"
        }

        """
    let find = "\"servings\": 4"
    let replace: String
    var old: String { Edit.old }
    var new: String { Edit.old.replacing(find, with: replace) }

    /// Same length as the old text, so that tools which do not truncate fit too.
    static let valid = Edit(replace: "\"servings\": 6")
    /// No JSON, of the same length; the error is at line 3, column 15.
    static let invalid = Edit(replace: "\"servings\": x")
    /// JSON, but of another type than the schema has: for tools that print only JSON.
    static let wrongType = Edit(replace: "\"servings\": \"many\"")
}

/// Where a tool works: a folder with the record, and a folder elsewhere for its sources.
struct ToolPlace: Sendable {
    /// The TYPE directory.
    let folder: String
    /// On another file system.
    let outside: String
    let name = "soup.json"
    var file: String { "\(folder)/\(name)" }

    /// Runs a command in the TYPE directory, with a home of its own.
    func tool(_ arguments: String..., input: String = "") throws -> ChildResult {
        try finish(
            arguments, environment: environment, directory: folder, input: input, seconds: 60)
    }

    func shell(_ script: String, _ arguments: String...) throws -> ChildResult {
        try finish(
            ["bash", "-c", script, "bash"] + arguments, environment: environment,
            directory: folder, seconds: 60)
    }

    func python(_ script: String, _ arguments: String...) throws -> ChildResult {
        try finish(
            ["python3", "-c", script] + arguments, environment: environment, directory: folder,
            seconds: 60)
    }

    var environment: [String: String] {
        [
            "HOME": home, "XDG_CONFIG_HOME": "\(home)/.config", "XDG_STATE_HOME": "\(home)/.state",
            "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@example.org",
            "GIT_COMMITTER_NAME": "t", "GIT_COMMITTER_EMAIL": "t@example.org", "TMPDIR": outside,
        ]
    }

    var home: String { "\(outside)/home" }

    /// A file outside the mount with the text that is to replace the record.
    func source(_ edit: Edit, named name: String = "soup.json") throws -> String {
        try SystemCall.makeDirectories("\(outside)/source")
        let path = "\(outside)/source/\(name)"
        if SystemCall.exists(path) { try SystemCall.unlink(path) }
        try SystemCall.writeFile(path, edit.new)
        return path
    }
}
