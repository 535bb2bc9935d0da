extension ToolCase {
    static let editors: [ToolCase] = [
        vim("auto"), vim("yes"), vim("no"), vimKeepingBackup, vimOnTerminal, neovim,
        emacs("default", ""),
        emacs("backup-by-copying", "(setq backup-by-copying t)"),
        emacs("file-precious-flag", "(setq file-precious-flag t)"),
        emacsOnTerminal, nano, nanoWithBackup, micro, ed, codeSequence,
    ]

    /// Ex mode reads no terminal, but opens, locks and writes as on one.
    private static func vim(_ backupcopy: String) -> ToolCase {
        ToolCase(name: "vim (backupcopy=\(backupcopy))", failure: .undone) { place, edit in
            try place.tool(
                "vim", "-u", "NONE", "-i", "NONE", "-es", "-V1", "-c",
                "set nocp wb swapfile bkc=\(backupcopy)",
                "-c", "edit \(place.file)", "-c", "%s/\(edit.find)/\(edit.replace)/",
                "-c", "write", "-c", "qall!")
        }
    }

    private static let vimKeepingBackup = ToolCase(name: "vim (set backup)", failure: .undone) {
        place, edit in
        try place.tool(
            "vim", "-u", "NONE", "-i", "NONE", "-es", "-V1", "-c", "set nocp backup swapfile", "-c",
            "edit \(place.file)", "-c", "%s/\(edit.find)/\(edit.replace)/", "-c", "write", "-c",
            "qall!")
    }

    private static let vimOnTerminal = ToolCase(name: "vim (on a terminal)", failure: .undone) {
        place, edit in
        let terminal = try Terminal(
            ["vim", "-u", "DEFAULTS", "-i", "NONE", place.file], environment: place.environment,
            directory: place.folder)
        try terminal.expect("cuisine")
        try terminal.send(":%s/\(edit.find)/\(edit.replace)/\r")
        try terminal.send(":write\r")
        let shown = try terminal.expect("written", "E512", "E514", "E667", "WARNING")
        if shown == "WARNING" { return .asked }
        try terminal.send("\r:qall!\r")
        _ = try terminal.finish()
        return terminal.outcome(failed: shown != "written", naming: "E5", "E6")
    }

    private static let neovim = ToolCase(name: "neovim", failure: .undone) { place, edit in
        // Nobody can answer what it asks.
        let result = try place.tool(
            "timeout", "30", "nvim", "-u", "NONE", "--headless", "-c", "edit \(place.file)", "-c",
            "%s/\(edit.find)/\(edit.replace)/", "-c", "write", "-c", "qall!")
        // Headless neovim exits with 0 whatever happened; what it shows is on standard error.
        let failed = result.errors.contains("E512") || result.errors.contains("E514")
        return ChildResult(
            status: failed ? 1 : result.status, output: "", errors: result.errors)
    }

    private static func emacs(_ name: String, _ setup: String) -> ToolCase {
        ToolCase(name: "emacs (\(name))") { place, edit in
            let program = """
                (progn \(setup) (setq create-lockfiles t) (find-file "\(place.file)")
                  (goto-char (point-min)) (search-forward "\(edit.find.lispQuoted)")
                  (replace-match "\(edit.replace.lispQuoted)" t t) (save-buffer))
                """
            return try place.tool("emacs", "-Q", "--batch", "--eval", program)
        }
    }

    private static let emacsOnTerminal = ToolCase(name: "emacs (on a terminal)", failure: .undone) {
        place, edit in
        let terminal = try Terminal(
            ["emacs", "-Q", "-nw", "+3:15", place.file], environment: place.environment,
            directory: place.folder)
        try terminal.expect("(JSON", "(JavaScript", "(Fundamental", "soup.json ")
        try terminal.send("\u{4}\(edit.replace.suffix(1))\u{18}\u{13}")
        let shown = try terminal.expect(
            "Wrote", "rror", "nvalid", "changed on disk", "changed since")
        if shown.hasPrefix("changed") { return .asked }
        if shown != "Wrote" {
            // C-g throws away what was typed ahead, so its answer is awaited.
            try terminal.send("\u{7}")
            try terminal.expect("Quit")
        }
        try terminal.send("\u{1b}:(kill-emacs)\r")
        _ = try terminal.finish()
        return terminal.outcome(failed: shown != "Wrote", naming: "rror", "nvalid")
    }

    private static let nano = nano("nano", [])
    private static let nanoWithBackup = nano("nano (with -B)", ["-B"])

    private static func nano(_ name: String, _ options: [String]) -> ToolCase {
        ToolCase(name: name) { place, edit in
            let terminal = try Terminal(
                ["nano"] + options + ["+3,15", place.file], environment: place.environment,
                directory: place.folder)
            try terminal.expect("cuisine")
            try terminal.send("\u{4}\(edit.replace.suffix(1))\u{13}")
            let shown = try terminal.expect(
                "Wrote", "Error writing", "modified since", "has changed")
            if shown.hasSuffix("since") || shown.hasPrefix("has") { return .asked }
            if shown == "Wrote" {
                try terminal.send("\u{18}")
            } else {
                try terminal.send("\u{18}")
                try terminal.expect("Save modified", "ancel")
                try terminal.send("n")
            }
            _ = try terminal.finish()
            return terminal.outcome(failed: shown != "Wrote", naming: "Error writing")
        }
    }

    private static let micro = ToolCase(name: "micro") { place, edit in
        let terminal = try Terminal(
            ["micro", "+3:15", place.file], environment: place.environment,
            directory: place.folder)
        try terminal.expect("cuisine")
        try terminal.send("\u{1b}[3~\(edit.replace.suffix(1))\u{13}")
        let shown = try terminal.expect("Saved", "nvalid", "rror", "on disk has changed")
        if shown.hasPrefix("on disk") { return .asked }
        try terminal.send("\u{11}")
        if shown != "Saved" {
            try terminal.expect("Save changes", "ancel", "y,n")
            try terminal.send("n")
        }
        _ = try terminal.finish()
        return terminal.outcome(failed: shown != "Saved", naming: "nvalid", "rror")
    }

    private static let ed = ToolCase(name: "ed") { place, edit in
        try place.tool(
            "ed", "-s", place.file, input: "H\n%s/\(edit.find)/\(edit.replace)/\nw\nQ\n")
    }

    /// What Visual Studio Code does at a save (its diskFileSystemProvider): it swallows what fsync
    /// answers and reports what close does.
    private static let codeSequence = ToolCase(name: "VS Code (its save sequence)") { place, edit in
        try place.python(
            """
            import os, sys
            path, old, new = sys.argv[1:]
            text = open(path).read().replace(old, new)
            os.stat(path)
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
            os.write(fd, text.encode())
            os.fdatasync(fd)
            os.close(fd)
            """, place.file, edit.find, edit.replace)
    }
}

extension String {
    fileprivate var lispQuoted: String {
        replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    }
}

extension ChildResult {
    /// The program has told its user that somebody else has changed the file, and waits for an answer.
    fileprivate static let asked = ChildResult(status: 1, output: "", errors: "asked")
}

extension Terminal {
    /// The exit status that a command would have had, and the line that told the user.
    fileprivate func outcome(failed: Bool, naming words: String...) -> ChildResult {
        let lines = text.split(whereSeparator: \.isNewline)
        let line = lines.first { line in words.contains { line.contains($0) } } ?? ""
        let message = line.split(separator: " ").joined(separator: " ")
        return ChildResult(
            status: failed ? 1 : 0, output: "", errors: failed ? String(message) : "")
    }
}
