import RecordModel
import RecordStore
import ServerTestSupport
import Simulation
import Testing

/// What was done on one machine is one entry of the log on all machines, with the same name, time,
/// author and program.
@Suite struct SameGestureTests {
    private let server: TestServer
    private let a: Replica
    private let b: Replica

    init() async throws {
        server = try await TestServer()
        a = try Replica(server)
        b = try Replica(server)
    }

    private func syncAll() async throws {
        for replica in [a, b, a, b] { try await replica.sync() }
    }

    /// Runs the body as a program of that name.
    private func program(_ name: String, _ body: () throws -> Void) throws {
        let table = ProgramTable(program: { $0 }, isRunning: { _ in true }, session: { _ in 1 })
        let group = Int32(name.utf8.reduce(0) { $0 + Int($1) })
        let caller = CallingProgram(thread: group, table: table, name: { name })
        try CallingProgram.$current.withValue(caller, operation: body)
    }

    /// What an entry is on every machine.
    private struct Entry: Hashable {
        let name: GestureName?
        let time: Int64
        let tool: String?
        let author: String
        let kinds: [String: Int]
    }

    private func log(of replica: Replica) throws -> [Entry] {
        try replica.store.past.log(LogQuery()).map { entry in
            Entry(
                name: entry.gesture?.name, time: entry.at.milliseconds,
                tool: entry.gesture?.tool, author: entry.shownAuthor,
                kinds: [
                    "made": entry.counts.made, "changed": entry.counts.changed,
                    "removed": entry.counts.removed,
                ])
        }
    }

    @Test("saves, changes and removals are the same entries here, there, and on a new machine")
    func sameEntries() async throws {
        try program("cp") { for stem in ["x", "y", "z"] { try a.save(stem, #"{"n":1}"#) } }
        try await syncAll()
        try program("vim") { try b.save("x", #"{"n":2}"#) }
        try await syncAll()
        try program("rm") { for stem in ["y", "z"] { try a.delete(stem) } }
        try await syncAll()
        let entries = try log(of: a)
        #expect(entries.map(\.tool) == ["rm", "vim", "cp"])
        #expect(entries.allSatisfy { $0.name != nil })
        #expect(Set(entries.map(\.name)).count == 3)
        #expect(entries.map { $0.kinds.values.reduce(0, +) } == [2, 1, 3])
        #expect(try log(of: b) == entries)
        let fresh = try Replica(server)
        try await fresh.sync()
        #expect(try log(of: fresh).map(\.tool) == ["vim"], "what is left of what was done")
        #expect(try log(of: fresh).first?.name == entries[1].name)
        for replica in [a, b, fresh] { try replica.expectSound() }
    }

    @Test("nobody undoes here what was done elsewhere, also by its name")
    func undo() async throws {
        try program("cp") { try a.save("x", #"{"n":1}"#) }
        try await syncAll()
        let entry = try #require(try b.store.past.log(LogQuery()).first)
        let name = try #require(entry.gesture?.name)
        let token = try b.store.past.token(ofGesture: name)
        #expect(token == entry.token)
        for choice in [GestureChoice.latest(1), .ofToken(token)] {
            let error = #expect(throws: RecordError.self) {
                try b.store.write(author: .commandLine) { transaction throws(RecordError) in
                    _ = try transaction.undoing.undo(choice)
                }
            }
            #expect(error?.code == .notFound)
        }
        #expect(try b.files() == ["x": #"{"n":1}"#])
        #expect(try b.store.past.log(LogQuery()).first?.isUndone == false)
    }

    @Test(
        "a merge belongs to what came from elsewhere, and what is sent of it to what was done here")
    func merge() async throws {
        try program("cp") { try a.save("x", #"{"n":1,"m":1}"#) }
        try await syncAll()
        try program("vim") { try a.save("x", #"{"n":2,"m":1}"#) }
        try program("jq") { try b.save("x", #"{"n":1,"m":2}"#) }
        try await a.sync()
        try await b.sync()
        try await a.sync()
        #expect(try a.files() == b.files())
        #expect(try log(of: a).map(\.tool) == ["jq", "vim", "cp"])
        #expect(try log(of: b).map(\.tool) == ["vim", "jq", "cp"])
        #expect(Set(try log(of: a).map(\.name)) == Set(try log(of: b).map(\.name)))
    }

    @Test("a text that no machine of this version has sent is an origin of none")
    func malformed() {
        let name = GestureName.random()
        let good = "\(name)\t5\tcli\tvim\tbot"
        #expect(GestureOrigin(Text(good))?.text == Text(good))
        #expect(GestureOrigin(Text("\(name)\t5\tcli\t\t"))?.tool == nil)
        let long = String(repeating: "x", count: 300)
        let bad = [
            "", "\t\t\t\t", "\(name)", "\(name)\t5\tcli\tvim", "\(name)\tx\tcli\tvim\t",
            "\(name)\t5\tsync\tvim\t", "\(name)\t5\tcli\tvim\tsync", "\(name)\t5\tcli\t\(long)\t",
            "abcdefghijkl\t5\tcli\tvim\t", "\(name)\t5\tcli\tvim\t\tx",
        ]
        for text in bad { #expect(GestureOrigin(Text(text)) == nil, "\(text)") }
        let ends = ["\(Int64.max)", "\(Int64.min)"].map { "\(name)\t\($0)\tcli\tvim\t" }
        for text in ends { #expect(GestureOrigin(Text(text)) != nil) }
        let odd = GestureOrigin(Text("\(name)\t5\tcli\tv\u{1B}[31mi\nm\t"))
        #expect(odd?.tool == "v[31mim")
    }
}
