import Testing

extension MountTests {
    /// The drivers themselves, on the file system below: when one of these fails, the tool or its
    /// driver is to blame, not the mount.
    @Suite struct ToolDriverTests {
        @Test("each tool driver makes its edit on an ordinary file system", arguments: ToolCase.all)
        func driver(tool: ToolCase) throws {
            for (edit, text) in [
                (tool.valid, tool.expectedText(tool.valid)),
                (tool.invalid ?? tool.valid, tool.expectedInvalidText(tool.invalid ?? tool.valid)),
            ] where tool.invalid != nil || text == tool.expectedText(tool.valid) {
                let folder = try TestRoot.makeDirectory("driver")
                defer { TestRoot.removeTree(folder) }
                let place = ToolPlace(folder: "\(folder)/type", outside: "\(folder)/outside")
                for path in [place.folder, place.outside, place.home] {
                    try SystemCall.makeDirectory(path)
                }
                try SystemCall.writeFile(place.file, edit.old)
                let result = try tool.run(place, edit)
                #expect(result.status == 0, "\(result)")
                #expect(try SystemCall.readText(place.file) == text)
            }
        }
    }
}
