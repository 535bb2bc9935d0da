import Testing

extension MountTests {
    /// Every tool, through the kernel, on a record.
    @Suite struct ToolTests {
        @Test(
            "a tool's edit is one version of the same record, with attributes and without",
            arguments: ToolCase.all, [false, true])
        func edit(tool: ToolCase, hasAttributes: Bool) throws {
            let bench = try ToolBench(hasAttributes)
            let before = try #require(try bench.mounted.store.record("soup"))
            let versions = try bench.store.history("soup").count
            let result = try tool.run(bench.place, tool.valid)
            try SystemCall.syncDirectory(bench.place.folder)

            let text = try SystemCall.readText(bench.place.file)
            let after = try bench.store.record("soup")
            let history = try bench.store.history("soup")
            try bench.note(
                ToolResult(
                    tool: tool.name, content: "valid", status: result.status,
                    message: bench.told(result.message),
                    bytesAsExpected: text == tool.expectedText(tool.valid),
                    sameRecord: after == before, historyRows: history.count - versions,
                    outboxRows: try bench.store.outbox("soup"),
                    draft: try bench.store.drafts() > 0, undone: false))

            #expect(result.status == 0, "\(result)")
            #expect(text == tool.expectedText(tool.valid))
            #expect(after == before, "the same row, creation time and generation")
            #expect(
                history.count - versions == tool.historyRows, "versions: \(history)")
            #expect(try bench.store.outbox("soup") == 1)
            #expect(try bench.store.stems() == ["soup"], "no scratch name is a record")
            #expect(try bench.store.drafts() == 0)
            #expect(try bench.store.trash() == 0)
            #expect(!SystemCall.exists("\(bench.place.folder)/.error"))
            #expect(try bench.store.savedText("soup") == text)
        }

        @Test(
            "a tool's bad edit is kept as a draft and leaves the record alone",
            arguments: ToolCase.all.filter { $0.invalid != nil }, [false, true])
        func badEdit(tool: ToolCase, hasAttributes: Bool) throws {
            let bench = try ToolBench(hasAttributes)
            let edit = try #require(tool.invalid)
            let before = try #require(try bench.store.record("soup"))
            let versions = try bench.store.history("soup")
            let result = try tool.run(bench.place, edit)
            try SystemCall.syncDirectory(bench.place.folder)

            let text = try SystemCall.readText(bench.place.file)
            let draft = try bench.store.draft("soup")
            let undone = tool.failure == .undone
            try bench.note(
                ToolResult(
                    tool: tool.name, content: "invalid", status: result.status,
                    message: bench.told(result.message),
                    bytesAsExpected: text == (undone ? edit.old : tool.expectedInvalidText(edit)),
                    sameRecord: try bench.store.record("soup") == before,
                    historyRows: try bench.store.history("soup").count - versions.count,
                    outboxRows: try bench.store.outbox("soup"), draft: draft != nil,
                    undone: undone))

            if tool.failure != .silent { #expect(result.status != 0, "\(result)") }
            #expect(try bench.store.record("soup") == before)
            #expect(try bench.store.savedText("soup") == edit.old, "the record is untouched")
            #expect(try bench.mounted.recordfs("get", "private/Kitchen/Recipe/soup") == edit.old)
            #expect(try bench.store.history("soup") == versions)
            #expect(try bench.store.outbox("soup") == 1)
            #expect(try bench.store.stems() == ["soup"])
            if undone {
                #expect(text == edit.old)
                #expect(draft == nil)
            } else {
                #expect(text == tool.expectedInvalidText(edit))
                #expect(draft?.text == text)
                try bench.checkErrorIsTold(tool.errorLine)
            }
        }
    }
}

/// A mount with the record `soup`, saved and settled.
private struct ToolBench {
    let mounted: MountedStore
    let place: ToolPlace
    let hasAttributes: Bool
    var store: StoreInspection { mounted.store }

    init(_ hasAttributes: Bool) throws {
        self.hasAttributes = hasAttributes
        mounted = try MountedStore(options: hasAttributes ? ["-o", "xattr"] : [])
        place = ToolPlace(folder: try mounted.makeType(), outside: mounted.outside)
        try SystemCall.makeDirectory(place.home)
        try SystemCall.writeFile(place.file, Edit.old)
        try SystemCall.syncDirectory(place.folder)
    }

    /// The table of tools shows a mount as users have it.
    func note(_ result: ToolResult) throws {
        if !hasAttributes { try ToolResults.append(result) }
    }

    /// The line of a message that says what went wrong, without this machine's paths.
    func told(_ message: String) -> String {
        let lines = message.split(separator: "|")
        let words = ["rror", "nvalid", "annot", "ailed", "Can't"]
        let line = lines.last { line in words.contains { line.contains($0) } } ?? lines.last ?? ""
        return line.split(separator: " ").map { word in
            guard word.contains("/mnt/") || word.contains("recordfs-tests/") else { return word }
            let quote = word.first { "\"'‘".contains($0) }.map(String.init) ?? ""
            return Substring(quote + (word.split(separator: "/").last ?? ""))
        }.joined(separator: " ")
    }

    func checkErrorIsTold(_ line: Int) throws {
        let told = try SystemCall.readText("\(place.folder)/.error")
        #expect(told.contains("line \(line), column "), "\(told)")
        #expect(told.contains(place.name), "\(told)")
        #expect(try SystemCall.list(place.folder).contains(".error"))
        let meta = try SystemCall.readText(
            "\(mounted.mountPoint)/.recordfs/meta/private/Kitchen/Recipe/\(place.name)")
        #expect(meta.contains("\"state\": \"draft\"") && meta.contains("line \(line)"), "\(meta)")
        guard hasAttributes else { return }
        #expect(try SystemCall.attribute(place.file, "user.recordfs.state") == "draft")
        let reason = try SystemCall.attribute(place.file, "user.recordfs.error")
        #expect(reason?.contains("line \(line)") ?? false, "\(reason ?? "no attribute")")
    }
}
