import Glibc
import RecordModel
import TestSupport
import Testing

@testable import RecordStore
@testable import RecordTree

/// The generated files that a tree keeps, beside lists of their opens and uses.
@Suite("Generated files beside lists of their uses")
struct GeneratedFilesWalkTests {
    private static let paths: [ControlPath] = [.status, .metrics, .errors, .meta(RecordID(1))]
    private static let exports: [ControlPath] = (1...4).map { .export(TypeID($0), .json) }
    /// The bytes of exports that stay beside the last one.
    private static let room: Int64 = 256 << 20

    private struct Export: Equatable {
        let path: ControlPath
        let stamp: Int64
        let size: Int64
    }

    private var files = GeneratedFiles()
    /// The contents of each open file, in the order of the opens.
    private var opens: [ControlPath: [String]] = [:]
    private var texts: [ControlPath: (text: String, since: Timestamp)] = [:]
    /// The exports in the order of their last uses.
    private var exports: [Export] = []
    private var random = SeededRandom(seed: 0)
    private var now = Timestamp(seconds: 1)

    private func content(_ text: String) -> GeneratedContent {
        GeneratedContent(text.b, modified: now)
    }

    private func text(_ content: GeneratedContent?) -> String? {
        guard case .bytes(let bytes)? = content?.storage else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    private mutating func step() throws -> String? {
        let (path, word) = (random.pick(Self.paths), random.pick(["", "x", "yy"]))
        now = now + .seconds(1)
        switch random.below(6) {
        case 0:
            files.open(path, content(word))
            opens[path, default: []].append(word)
        case 1:
            files.close(path)
            if opens[path]?.isEmpty == false { opens[path]?.removeFirst() }
        case 2, 3:
            if texts[path]?.text != word { texts[path] = (word, now) }
            let kept = files.keep(path, word.b, now: now)
            guard text(kept) == word, kept.modified == texts[path]?.since else {
                return "\(path) has \(kept) since another time than \(texts[path]?.since as Any)"
            }
        case 4: return try makeExport()
        default: return useExport()
        }
        return nil
    }

    private mutating func makeExport() throws -> String? {
        let made = Export(
            path: random.pick(Self.exports), stamp: Int64(random.below(3)),
            size: Int64(random.below(4)) * (100 << 20))
        // Large without its bytes.
        let file = try HostFile(path: "/dev/null".b, flags: O_RDONLY)
        let content = GeneratedContent(file, size: made.size, modified: now)
        let stamp = ChangeStamp(changes: made.stamp, schemaChanges: 0)
        let dropped = files.keep(made.path, stamp, content)
        let before = exports.count
        exports.removeAll { $0.path == made.path }
        exports.append(made)
        while exports.count > 1, exports.reduce(0, { $0 + $1.size }) > Self.room {
            exports.removeFirst()
        }
        guard dropped.count == before + 1 - exports.count else { return "drops \(dropped.count)" }
        return nil
    }

    private mutating func useExport() -> String? {
        let (path, stamp) = (random.pick(Self.exports), Int64(random.below(3)))
        let index = exports.firstIndex { $0.path == path && $0.stamp == stamp }
        let found = files.export(path, ChangeStamp(changes: stamp, schemaChanges: 0))
        guard found?.size == index.map({ exports[$0].size }) else { return "finds another export" }
        if let index { exports.append(exports.remove(at: index)) }
        return nil
    }

    private var problem: String? {
        for path in Self.paths {
            // `stat` shows what was opened last, as long as a program has it open.
            let last = opens[path]?.isEmpty == false ? lastOpened[path] : nil
            guard text(files.shown(path)) == last else { return "\(path) shows another text" }
        }
        guard Set(files.exports.keys) == Set(exports.map(\.path)) else {
            return "other exports are kept than \(exports)"
        }
        return files.violations.first
    }

    private var lastOpened: [ControlPath: String] { opens.compactMapValues(\.last) }

    @Test("texts keep their times, and the exports used last stay", arguments: 1...30)
    func walk(seed: Int) throws {
        var walk = GeneratedFilesWalkTests()
        walk.random = SeededRandom(seed: UInt64(seed))
        for number in 0..<300 {
            let problem = try walk.step()
            if let problem = problem ?? walk.problem {
                Issue.record("\(problem), after step \(number) of seed \(seed)")
                return
            }
        }
    }
}
