import Glibc
import RecordControl
import RecordModel
import RecordStore
import Testing

@Suite("Trees out and in")
struct TreeTransferTests {
    private let directory: TemporaryDirectory
    private let store: RecordStore

    init() throws {
        directory = try TemporaryDirectory()
        store = try RecordStore.temporary(directory)
    }

    private func perform(_ request: ControlRequest) throws {
        _ = try ControlExecutor(store: store).run(request)
    }

    private func put(_ path: String, _ text: String) throws {
        try perform(.put(try RecordPath(path), text: bytes(text)))
    }

    private func putAsset(_ path: String, _ content: [UInt8]) throws {
        let file = "\(directory.path)/asset"
        try writeWholeFile(content, to: file)
        try perform(.putAsset(try RecordPath(path), file: file))
    }

    /// Records of several types and zones, with large fields, odd names and their own layouts.
    private func fill() throws {
        let long = String(repeating: "n", count: 120)
        try put("private/Kitchen/Recipe/soup", "{ \"title\" : \"Soup\",\n\t\"n\":1.50 }")
        try put(
            "private/Kitchen/Recipe/a%2Fb",
            "{\"when\": {\"$timestamp\": \"2026-11-20T10:00:00.000Z\"}}\n")
        try put("private/Kitchen/Recipe/\(long)", "{}")
        try put("private/Kitchen/Task/soup", "{\"ref\": {\"$ref\": \"soup\"}}")
        try put("private/Kitchen/Recipe/plain", "{\"when\": \"2026-11-21T10:00:00.000Z\"}")
        try put("private/Müll/Empty/x", "{}")
        try perform(.remove(try RecordPath("private/Müll/Empty/x"), recursive: false))
        try put("local/Here/Thing/t", "{\"body\": \"\(String(repeating: "b", count: 100_000))\"}")
        let photo = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        try putAsset("private/Kitchen/Recipe/soup@photo.jpg", photo)
        try putAsset("private/Kitchen/Recipe/soup@pages.0.png", [1, 2, 3])
        try putAsset("private/Kitchen/Recipe/soup@pages.1.png", [])
    }

    private func export(_ store: RecordStore, to target: String, _ path: String = "") throws
        -> TreeExport.Counts
    {
        var export = try TreeExport(store, to: target)
        return try export.export(try RecordPath(path))
    }

    private func bring(
        _ source: String, into store: RecordStore, _ path: String = "", isRehearsal: Bool = false
    ) throws -> ImportProgress {
        var options = TreeImport.Options()
        options.target = try RecordPath(path)
        options.isRehearsal = isRehearsal
        options.batchRows = 2
        let executor = ControlExecutor(store: store)
        var problems: [String] = []
        var run = TreeImport(
            source, options: options,
            perform: { (request) throws(RecordError) in
                try executor.run(try ControlRequest(request.frame))
            },
            onProblem: { problems.append("\($0.file ?? ""): \($0.error)") })
        let result = try run.run()
        #expect(problems == [])
        return result
    }

    /// All files below a directory with their bytes, directories with none.
    private func tree(_ root: String, _ path: String = "") throws -> [String: [UInt8]] {
        var found: [String: [UInt8]] = [:]
        let stream = try #require(opendir(root + path))
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            let bytes = withUnsafeBytes(of: entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            let name = String(decoding: bytes, as: UTF8.self)
            guard name != ".", name != ".." else { continue }
            if entry.pointee.d_type == 4 {
                found["\(path)/\(name)/"] = []
                found.merge(try tree(root, "\(path)/\(name)")) { $1 }
            } else {
                found["\(path)/\(name)"] = try readWholeFile("\(root)\(path)/\(name)")
            }
        }
        return found
    }

    @Test("everything comes back byte for byte, by a directory and by an archive")
    func roundTrip() throws {
        try fill()
        let first = "\(directory.path)/first"
        let counts = try export(store, to: first)
        #expect(counts.records == 6 && counts.files == 3 && counts.missing.isEmpty)
        let wanted = try tree(first)
        #expect(wanted["/private/Kitchen/Recipe/soup@photo.jpg"]?.count == 300_000)
        #expect(wanted["/private/Müll/Empty/"] != nil)
        let archive = "\(directory.path)/all.tar"
        _ = try export(store, to: archive)
        try TreeImport.unpack(archive, into: "\(directory.path)/unpacked".made())
        #expect(try tree("\(directory.path)/unpacked") == wanted)

        for source in [first, "\(directory.path)/unpacked"] {
            let other = try TreeTransferTests()
            #expect(try bring(source, into: other.store, isRehearsal: true).created == 6)
            #expect(try other.store.syncState.counts().records == 0)
            #expect(try bring(source, into: other.store).created == 6)
            _ = try export(other.store, to: "\(other.directory.path)/again")
            let found = try tree("\(other.directory.path)/again")
            #expect(Set(found.keys) == Set(wanted.keys))
            for (path, content) in wanted { #expect(found[path] == content, "\(path)") }
            let token = try other.store.past.lastToken()
            #expect(try bring(source, into: other.store).unchanged == 6)
            #expect(try other.store.past.lastToken() == token)
            #expect(try other.store.upkeep.integrityCheck(deep: true) == [])
        }
    }

    @Test("so do names as long as names can be, and records that have the name of another type's")
    func oddNames() throws {
        let long = String(repeating: "n", count: 250)
        for (path, text) in [
            ("A/x", "{\"t\":\"Ax\"}"), ("B/x", "{\"t\":\"Bx\"}"), ("A/x:B", "{\"t\":\"AxB\"}"),
            ("A/\(long)", "{}"), ("B/last", "{}"),
        ] { try put("private/Z/\(path)", text) }
        let first = "\(directory.path)/first"
        #expect(try export(store, to: first).records == 5)
        let wanted = try tree(first)
        _ = try export(store, to: "\(directory.path)/all.tar")
        let unpacked = "\(directory.path)/unpacked".made()
        try TreeImport.unpack("\(directory.path)/all.tar", into: unpacked)
        for source in [first, unpacked] {
            let other = try TreeTransferTests()
            #expect(try bring(source, into: other.store).created == 5)
            _ = try export(other.store, to: "\(other.directory.path)/again")
            #expect(try tree("\(other.directory.path)/again") == wanted)
        }
    }

    @Test("a zone or a type can be taken out, and brought in, alone")
    func parts() throws {
        try fill()
        let zone = "\(directory.path)/zone"
        #expect(try export(store, to: zone, "private/Kitchen").records == 5)
        #expect(try tree(zone).keys.allSatisfy { !$0.contains("Müll") })
        #expect(
            try export(store, to: "\(directory.path)/type", "private/Kitchen/Task").records == 1)
        let other = try TreeTransferTests()
        #expect(try bring(zone, into: other.store, "private/Kitchen/Task").created == 1)
        #expect(try other.store.syncState.counts().records == 1)
    }

    @Test("what is no tree of an export, or no place for one, is an error")
    func refusals() throws {
        try fill()
        #expect(try error { _ = try export(store, to: directory.path) }.code == .notEmpty)
        #expect(try error { _ = try export(store, to: "x.tar.gz") }.message.contains("zstd"))
        let empty = "\(directory.path)/empty".made()
        #expect(try error { _ = try bring(empty, into: store) }.code == .invalidArgument)
        let file = try directory.file("a.tar", "not a tar")
        #expect(try error { try TreeImport.unpack(file, into: empty) }.code == .invalidArgument)
        let evil = "\(directory.path)/evil.tar"
        var archive = [UInt8](repeating: 0, count: 512)
        for (at, byte) in "../evil".utf8.enumerated() { archive[at] = byte }
        archive[156] = 0x30
        let sum = archive.reduce(0) { $0 + Int($1) } + 8 * 0x20
        for (at, byte) in String(sum, radix: 8).utf8.enumerated() { archive[148 + at] = byte }
        try writeWholeFile(archive + [UInt8](repeating: 0, count: 1024), to: evil)
        #expect(try error { try TreeImport.unpack(evil, into: empty) }.code == .invalidArgument)
        #expect(access("\(directory.path)/evil", F_OK) != 0)
    }

    @Test("GNU tar reads and writes the archives")
    func gnuTar() throws {
        try fill()
        let archive = "\(directory.path)/all.tar"
        _ = try export(store, to: archive)
        let place = "\(directory.path)/gnu".made()
        #expect(shell("tar -C \(place) -xf \(archive)") == 0)
        _ = try export(store, to: "\(directory.path)/plain")
        #expect(try tree(place) == tree("\(directory.path)/plain"))
        for format in ["gnu", "pax"] {
            #expect(shell("tar --format=\(format) -C \(place) -cf \(archive) .") == 0)
            let again = "\(directory.path)/\(format)".made()
            try TreeImport.unpack(archive, into: again)
            #expect(try tree(again) == tree(place))
        }
    }

    private func shell(_ command: String) -> Int32 {
        var process = pid_t()
        let words: [UnsafeMutablePointer<CChar>?] =
            ["/bin/sh", "-c", command].map { (word: String) in strdup(word) } + [nil]
        defer { for word in words { free(word) } }
        guard posix_spawn(&process, "/bin/sh", nil, nil, words, environ) == 0 else { return -1 }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status
    }
}

extension String {
    /// The directory of this path, which is made.
    fileprivate func made() -> String {
        mkdir(self, 0o700)
        return self
    }
}
