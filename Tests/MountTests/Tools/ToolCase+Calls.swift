extension ToolCase {
    /// Tools that change a file in place, and sequences of calls that programs make.
    static let calls: [ToolCase] = [
        builtinRedirect, append, truncate, touch, pythonInPlace, pythonRewrite, mapped,
        temporaryAndRename, exchange,
    ]

    /// The shell's own `echo` ignores what close answers, so a bad text shows no error.
    private static let builtinRedirect = ToolCase(name: "printf > (builtin)", failure: .silent) {
        place, edit in
        try place.shell(#"printf '%s' "$1" > "$2""#, edit.new, place.name)
    }

    /// The first part alone is no JSON: a draft, which the appended rest completes.
    private static let append = ToolCase(
        name: ">>", expectedInvalid: { $0.old + "{" }, errorLine: 6
    ) { place, edit in
        if edit.new == Edit.valid.new {
            return try place.shell(
                #"head -c 30 "$1" > "$2"; tail -c +31 "$1" >> "$2""#, try place.source(edit),
                place.name)
        }
        return try place.shell(#"cat <(printf '{') >> "$1""#, place.name)
    }

    /// Without its last newline a record has the same values: no version.
    private static let truncate = ToolCase(
        name: "truncate", expected: { String($0.old.dropLast()) },
        expectedInvalid: { String($0.old.dropLast(3)) }, historyRows: 0, errorLine: 4
    ) { place, edit in
        let cut = edit.new == Edit.valid.new ? 1 : 3
        return try place.tool("truncate", "-s", "-\(cut)", place.name)
    }

    private static let touch = ToolCase(
        name: "touch", invalid: nil, expected: { $0.old }, historyRows: 0
    ) { place, _ in
        try place.tool("touch", "-d", "2020-02-02T02:02:02Z", place.name)
    }

    private static let pythonInPlace = ToolCase(name: "python r+b") { place, edit in
        try place.python(
            """
            import sys
            path, old, new = sys.argv[1:]
            with open(path, 'r+b') as f:
                f.seek(f.read().index(old.encode()))
                f.write(new.encode())
            """, place.file, edit.find, edit.replace)
    }

    private static let pythonRewrite = ToolCase(name: "python w") { place, edit in
        try place.python(
            """
            import sys
            path, text = sys.argv[1:]
            with open(path, 'w') as f:
                f.write(text)
            """, place.file, edit.new)
    }

    /// mmap duplicates the descriptor and is the first to close it, deaf to the answer.
    private static let mapped = ToolCase(name: "mmap (shared, read and write)", failure: .silent) {
        place, edit in
        try place.python(
            """
            import mmap, sys
            path, old, new = sys.argv[1:]
            with open(path, 'r+b') as f:
                with mmap.mmap(f.fileno(), 0) as m:
                    at = m.find(old.encode())
                    m[at:at + len(new)] = new.encode()
                    m.flush()
                with mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ) as m:
                    assert m.find(new.encode()) == at
            """, place.file, edit.find, edit.replace)
    }

    private static let temporaryAndRename = ToolCase(name: "temporary file, fsync, rename") {
        place, edit in
        try place.python(
            """
            import os, sys
            path, text = sys.argv[1:]
            with open(path + '.tmp', 'w') as f:
                f.write(text)
                f.flush()
                os.fsync(f.fileno())
            os.rename(path + '.tmp', path)
            """, place.file, edit.new)
    }

    /// The old text is at the scratch name afterwards; the tool removes it. An exchange that is
    /// refused leaves both names as they were.
    private static let exchange = ToolCase(
        name: "temporary file, renameat2 EXCHANGE", failure: .undone
    ) {
        place, edit in
        try place.python(
            """
            import ctypes, os, sys
            path, text = sys.argv[1:]
            with open(path + '.tmp', 'w') as f:
                f.write(text)
            libc = ctypes.CDLL(None, use_errno=True)
            if libc.renameat2(-100, (path + '.tmp').encode(), -100, path.encode(), 2) != 0:
                sys.exit(os.strerror(ctypes.get_errno()))
            os.unlink(path + '.tmp')
            """, place.file, edit.new)
    }

    static let all = editors + commands + calls
}
