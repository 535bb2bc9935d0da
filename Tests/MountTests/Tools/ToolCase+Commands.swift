extension ToolCase {
    static let commands: [ToolCase] = [
        sed, perl, jqSponge, jqMove, rsync, rsyncInPlace, rsyncDelayed,
        rsyncPartial, gitCheckout, tar, patch, install,
        copy, copyArchive, moveFromElsewhere, dd, redirect, tee, cat,
    ]

    private static let sed = ToolCase(name: "sed -i") { place, edit in
        try place.tool("sed", "-i", "s/\(edit.find)/\(edit.replace)/", place.name)
    }

    private static let perl = ToolCase(name: "perl -i") { place, edit in
        try place.tool("perl", "-i", "-pe", "s/\(edit.find)/\(edit.replace)/", place.name)
    }

    private static func filter(_ edit: Edit) -> String {
        ".servings = \(edit.replace.dropFirst("\"servings\": ".count))"
    }

    private static let jqSponge = ToolCase(name: "jq and sponge", invalid: .wrongType) {
        place, edit in
        try place.shell(#"jq "$1" "$2" | sponge "$2""#, filter(edit), place.name)
    }

    private static let jqMove = ToolCase(name: "jq > tmp && mv", invalid: .wrongType) {
        place, edit in
        try place.shell(#"jq "$1" "$2" > tmp.new && mv tmp.new "$2""#, filter(edit), place.name)
    }

    private static let rsync = ToolCase(name: "rsync -a") { place, edit in
        try place.tool("rsync", "-a", "--ignore-times", try place.source(edit), place.file)
    }

    private static let rsyncInPlace = ToolCase(name: "rsync -a --inplace", failure: .silent) {
        place, edit in
        try place.tool(
            "rsync", "-a", "--inplace", "--no-whole-file", "--ignore-times",
            try place.source(edit), place.file)
    }

    /// Renames from the scratch directory `.~tmp~`.
    private static let rsyncDelayed = ToolCase(name: "rsync -a --delay-updates") { place, edit in
        try place.tool(
            "rsync", "-a", "--delay-updates", "--ignore-times", try place.source(edit),
            "\(place.folder)/")
    }

    private static let rsyncPartial = ToolCase(name: "rsync -a --partial-dir") { place, edit in
        try place.tool(
            "rsync", "-a", "--partial-dir=.rsync-partial", "--delay-updates", "--ignore-times",
            try place.source(edit), "\(place.folder)/")
    }

    /// The work tree is the TYPE directory, the repository is elsewhere. git ignores what close
    /// answers.
    private static let gitCheckout = ToolCase(name: "git checkout", failure: .silent) {
        place, edit in
        let source = try place.source(edit)
        try place.tool("git", "init", "-q", "--bare", "\(place.outside)/repository.git").check()
        let git = ["git", "--git-dir=\(place.outside)/repository.git"]
        let stage = "\(place.outside)/source"
        for step in [["add", place.name], ["commit", "-q", "-m", "edit"]] {
            try finish(
                git + ["--work-tree=\(stage)"] + step, environment: place.environment,
                directory: stage
            ).check()
        }
        try SystemCall.unlink(source)
        return try place.tool(
            "git", "--git-dir=\(place.outside)/repository.git", "--work-tree=.", "checkout", "-f",
            "HEAD", "--", place.name)
    }

    private static let tar = ToolCase(name: "tar x") { place, edit in
        let source = try place.source(edit)
        let archive = "\(place.outside)/edit.tar"
        try place.tool("tar", "cf", archive, "-C", "\(place.outside)/source", place.name).check()
        try SystemCall.unlink(source)
        return try place.tool("tar", "xf", archive)
    }

    private static let patch = ToolCase(name: "patch") { place, edit in
        let source = try place.source(edit)
        let difference = try place.tool("diff", "-u", place.file, source)
        return try place.tool("patch", place.name, input: difference.output)
    }

    private static let install = ToolCase(name: "install") { place, edit in
        try place.tool("install", "-m", "644", try place.source(edit), place.file)
    }

    private static let copy = ToolCase(name: "cp") { place, edit in
        try place.tool("cp", try place.source(edit), place.file)
    }

    private static let copyArchive = ToolCase(name: "cp -a") { place, edit in
        try place.tool("cp", "-a", try place.source(edit), place.file)
    }

    private static let moveFromElsewhere = ToolCase(name: "mv from another file system") {
        place, edit in
        try place.tool("mv", "-f", try place.source(edit), place.file)
    }

    private static let dd = ToolCase(name: "dd conv=notrunc") { place, edit in
        try place.tool(
            "dd", "if=\(try place.source(edit))", "of=\(place.file)", "conv=notrunc", "bs=16",
            "status=none")
    }

    private static let redirect = ToolCase(name: "cat > (shell)") { place, edit in
        try place.shell(#"cat "$1" > "$2""#, try place.source(edit), place.name)
    }

    private static let tee = ToolCase(name: "tee") { place, edit in
        try place.tool("tee", place.name, input: edit.new)
    }

    /// Three children, each of which flushes the file at its exit.
    private static let cat = ToolCase(name: "{ head; tail; } >") { place, edit in
        try place.shell(
            #"{ head -n 2 "$1"; tail -n +3 "$1"; } > "$2""#, try place.source(edit), place.name)
    }
}

extension ChildResult {
    func check() throws {
        guard status == 0 else { throw ChildFailure(description: description) }
    }
}
