import Foundation
import Glibc
import RecordControl

/// The user's editor: `VISUAL`, `EDITOR`, or vi.
struct Editor {
    private let command: String

    init() {
        let variables = ["VISUAL", "EDITOR"].compactMap { environmentVariable($0) }
        command = variables.first { !$0.isEmpty } ?? "vi"
    }

    /// Lets the user edit a file, and waits until the editor has ended.
    ///
    /// - Parameter line: the line to begin at, for the editors that take one.
    /// - Throws: a failure when the editor cannot be started or fails.
    func open(_ path: String, at line: Int?) throws(CommandFailure) {
        setenv("RECORDFS_EDITED", path, 1)
        defer { unsetenv("RECORDFS_EDITED") }
        let place = line.flatMap { isKnown ? "+\($0) " : nil } ?? ""
        // As git does it: the variable may have arguments. It waits like a shell: ^C ends only the
        // editor.
        let status = system("\(command) \(place)\"$RECORDFS_EDITED\"")
        guard status == 0 else {
            throw CommandFailure(nil, "the editor \(command) failed; nothing is saved.")
        }
    }

    /// Indicates whether the editor takes `+LINE` before a file.
    private var isKnown: Bool {
        let program = command.split(separator: " ").first?.split(separator: "/").last
        let known: Set<Substring> = [
            "vi", "vim", "nvim", "view", "nano", "emacs", "emacsclient", "micro", "joe", "kak",
            "ne",
            "mg", "jed", "pico", "hx", "gvim",
        ]
        return program.map(known.contains) ?? false
    }
}
