import ServerTestSupport
import TestSupport
import Testing

extension MountTests {
    /// Mounts with a model beside programs that know Apple's text about the records of Core Data,
    /// and nothing of RecordFS: Tests/Clients/object_graphs.py.
    @Suite struct ObjectGraphTests {
        private static let program: String = {
            var parts = #filePath.split(separator: "/")
            parts.removeLast(3)
            return "/" + parts.joined(separator: "/") + "/Clients/object_graphs.py"
        }()

        @Test(
            "objects that are written as files are those of the records, and the other way round",
            arguments: ["values", "family", "pairs", "trees", "tags", "mixed"])
        func graphs(model: String) async throws {
            let folder = try TestRoot.makeDirectory("graphs")
            let run = try ServerProcess(
                program: "/usr/bin/python3",
                [
                    Self.program, try Executable.recordfs(), ServerProcess.binary, folder,
                    "--models", model, "--objects", "25",
                ])
            let status = try await run.wait(seconds: 120)
            #expect(status == 0, "\(run.outputText) \(run.errorText)")
            #expect(run.outputText.split(separator: "\n").count == 7)
            TestRoot.remove(folder)
        }
    }
}
