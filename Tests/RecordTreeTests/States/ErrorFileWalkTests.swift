import Glibc
import RecordModel
import RecordStore
import RecordTree
import TestSupport
import Testing

/// `.error` of record types, a zone and a database beside a list of what was refused in each
/// (MountContract, "The file .error" and "Scratch").
@Suite("The files .error beside what was refused")
struct ErrorFileWalkTests {
    /// The subjects that `.error` of a record type can tell of.
    private struct Refused {
        /// The records with a refused text, or without a text, in the order of their refusals.
        var records: [(stem: String, isRead: Bool)] = []
        /// The large field that could not be saved last.
        var field: String?

        mutating func refuse(_ stem: String) {
            accept(stem)
            records.append((stem, false))
        }

        mutating func accept(_ stem: String) { records.removeAll { $0.stem == stem } }

        mutating func read() {
            records = records.map { ($0.stem, true) }
            field = nil
        }

        /// After a remount nobody has read what is refused still, and no failed field is known.
        mutating func forgetWhatWasRead() {
            records = records.map { ($0.stem, false) }
            field = nil
        }

        var unread: [String] { records.filter { !$0.isRead }.map(\.stem) }
        var isShown: Bool { !unread.isEmpty || field != nil }
    }

    private final class Walk {
        let fixture: TreeFixture
        var random: SeededRandom
        /// By the path of the record type.
        var types: [String: Refused] = [:]
        /// The last refused name, by the path of the zone or database.
        var names: [String: String] = [:]
        var directories: [String: NodeNumber] = [:]
        /// The directories whose `.error` the kernel itself has seen go in this step.
        var seen: Set<String> = []
        private var number = 0

        private static let stems = [
            "private/Box/Note": ["a", "b", "c"], "private/Box/Task": ["d", "e"],
        ]
        private static let zones = ["private", "private/Box"]

        init(seed: UInt64) throws {
            fixture = try TreeFixture()
            fixture.observe()
            random = SeededRandom(seed: seed)
            let box = try #require(try fixture.find("private/Box")).node
            _ = try fixture.tree.makeDirectory(parent: box, name: "Task".b, mode: 0o755)
            try find()
            for (type, lists) in [("private/Box/Note", "m"), ("private/Box/Task", "k")] {
                try put(#"{"list":[],"more":[]}"#, type, "\(lists).json")
                types[type] = Refused()
            }
        }

        private func find() throws {
            for path in Self.zones + Self.stems.keys {
                directories[path] = try #require(try fixture.find(path)).node
            }
        }

        private func node(_ path: String) throws -> NodeNumber { try #require(directories[path]) }

        private func put(_ text: String, _ directory: String, _ name: String) throws {
            let (tree, parent) = (fixture.tree, try node(directory))
            let handle =
                if let entry = try fixture.lookup(name, in: parent) {
                    try tree.open(
                        entry.node, flags: O_WRONLY | O_TRUNC, caller: TreeFixture.user
                    ).handle
                } else {
                    try tree.create(
                        parent: parent, name: name.b, mode: 0o644, flags: O_WRONLY | O_TRUNC,
                        caller: TreeFixture.user
                    ).1.handle
                }
            defer { tree.release(handle) }
            try fixture.write(text, to: handle)
            try tree.flush(handle)
        }

        private func remove(_ directory: String, _ name: String) throws {
            try fixture.tree.remove(
                parent: node(directory), name: name.b, caller: TreeFixture.user)
        }

        private func pass() throws {
            fixture.clock.advance(.seconds(4))
            try fixture.maintain()
        }

        func step() throws -> String {
            number += 1
            seen = []
            fixture.clock.advance(.seconds(1))
            switch random.below(12) {
            case 0..<8:
                let type = random.pick(Self.stems.keys.sorted())
                return "\(type): " + (try stepInType(type, random.pick(Self.stems[type] ?? [])))
            case 8..<11:
                let path = random.pick(Self.zones)
                return "\(path): " + (try stepAboveTypes(path))
            default:
                guard random.below(3) == 0 else {
                    try pass()
                    return "pass"
                }
                try fixture.remount()
                fixture.observe()
                try find()
                seen = Set(directories.keys)
                for type in types.keys { types[type]?.forgetWhatWasRead() }
                return "remount"
            }
        }

        // MARK: Steps in a record type

        private func stepInType(_ type: String, _ stem: String) throws -> String {
            let good = random.below(2) == 0
            let text = good ? "{\"n\":\(number)}" : "{bad \(number)"
            switch random.below(10) {
            case 0, 1, 2:
                let refusal = try code { try put(text, type, "\(stem).json") }
                #expect(refusal == (good ? nil : .invalidJSON))
                note(stem, in: type, good)
                return "put \(text) as \(stem)"
            case 3:
                try put(text, type, "s")
                let refusal = try code { try rename("s", to: "\(stem).json", type) }
                #expect(refusal == (good ? nil : .refusedRename))
                if !good { try remove(type, "s") }
                note(stem, in: type, good)
                return "rename \(text) to \(stem)"
            case 4:
                let had = try fixture.lookup("\(stem).json", in: node(type)) != nil
                #expect(try code { try remove(type, "\(stem).json") } == (had ? nil : .notFound))
                try pass()
                types[type]?.accept(stem)
                return "remove \(stem)"
            case 5: return try discard(stem, type)
            case 6, 7:
                let isShown = types[type]?.isShown == true
                #expect(try code { try remove(type, ".error") } == (isShown ? nil : .notFound))
                types[type]?.read()
                seen = [type]
                return "remove .error"
            default: return try stepWithField(type)
            }
        }

        private func note(_ stem: String, in type: String, _ isGood: Bool) {
            if isGood { types[type]?.accept(stem) } else { types[type]?.refuse(stem) }
        }

        private func rename(_ name: String, to newName: String, _ type: String) throws {
            try fixture.tree.rename(
                parent: node(type), name: name.b, newParent: node(type), newName: newName.b,
                flags: 0, caller: TreeFixture.user)
        }

        private func discard(_ stem: String, _ type: String) throws -> String {
            let name = String(try #require(type.split(separator: "/").last))
            let id = try #require(
                try fixture.store.type(try fixture.box.id, RecordTypeName(name))
            ).id
            guard let record = try fixture.store.record(id, Stem(stem)), record.hasDraft else {
                return "nothing"
            }
            try fixture.store.write(author: .commandLine) { transaction throws(RecordError) in
                _ = try transaction.records.discardDraft(record.id)
            }
            types[type]?.accept(stem)
            return "discard \(stem)"
        }

        private func stepWithField(_ type: String) throws -> String {
            let lists = type.hasSuffix("Note") ? "m" : "k"
            let field = "\(lists)@\(random.pick(["list", "more"]))"
            switch random.below(6) {
            case 0, 1:
                // An element far behind the end of its list.
                #expect(throws: RecordError.self) { try put("x", type, "\(field).7.txt") }
                types[type]?.field = field
                return "refuse \(field)"
            case 2:
                try put("bytes \(number)", type, "\(field).0.txt")
                if types[type]?.field == field { types[type]?.field = nil }
                return "save \(field)"
            case 3:
                // A field before its record, which has a name of its own.
                let stem = "w\(number)"
                try put("bytes", type, "\(stem)@photo.jpg")
                types[type]?.refuse(stem)
                return "field without \(stem)"
            default:
                guard let stem = types[type]?.records.map(\.stem).last(where: { $0.first == "w" })
                else { return "nothing" }
                if random.below(2) == 0 {
                    try put("{\"n\":\(number)}", type, "\(stem).json")
                } else {
                    try remove(type, "\(stem)@photo.jpg")
                }
                types[type]?.accept(stem)
                return "end the wait for \(stem)"
            }
        }

        // MARK: Steps in a zone or a database

        private func stepAboveTypes(_ path: String) throws -> String {
            let parent = try node(path)
            func make(_ name: String) throws -> RecordError.Code? {
                try code {
                    _ = try fixture.tree.makeDirectory(parent: parent, name: name.b, mode: 0o755)
                }
            }
            switch random.below(5) {
            case 0, 1:
                let name = path == "private" ? "a%zz" : "my-type\(number)"
                #expect(try make(name) == .invalidName)
                names[path] = path == "private" ? "a%25zz" : name
                return "make \(name)"
            case 2:
                #expect(try code { try put("{}", path, "x\(number).json") } == .notPermitted)
                names[path] = "x\(number).json"
                return "put x\(number).json"
            case 3:
                #expect(try make("Made\(number)") == nil)
                names[path] = nil
                return "make Made\(number)"
            default:
                let had = names[path] != nil
                #expect(try code { try remove(path, ".error") } == (had ? nil : .notFound))
                names[path] = nil
                seen = [path]
                return "remove .error"
            }
        }

        // MARK: What is shown

        /// Returns which `.error` differs from what was refused.
        func problem() throws -> String? {
            for (type, refused) in types {
                let text = try text(type)
                if let problem = Self.difference(text, refused) { return "\(type): \(problem)" }
            }
            for path in Self.zones {
                let text = try text(path)
                guard (text != nil) == (names[path] != nil) else {
                    return "\(path) has \(text ?? "-"), not \(names[path] ?? "-")"
                }
                if let text, let name = names[path], !text.hasPrefix(name + ": ") {
                    return "\(path) tells of \(text), not of \(name)"
                }
            }
            return nil
        }

        /// Returns the content of `.error`, where it is there and listed.
        private func text(_ path: String) throws -> String? {
            let isListed = try fixture.names(in: node(path)).contains(".error")
            guard try fixture.lookup(".error", in: node(path)) != nil else {
                return isListed ? "only a listed name" : nil
            }
            return isListed ? try fixture.content("\(path)/.error") : "no listed name"
        }

        private static func difference(_ text: String?, _ refused: Refused) -> String? {
            guard let text else { return refused.isShown ? "tells of nothing" : nil }
            let unread = refused.unread
            let first = unread.last.map { $0 + ".json" } ?? refused.field ?? "nothing"
            guard text.hasPrefix(first) else { return "tells of \(text), not of \(first)" }
            let told = ["m@list", "m@more", "k@list", "k@more"].filter(text.contains)
            guard told == [refused.field].compactMap(\.self) else {
                return "tells of \(told), not of \(refused.field ?? "no field")"
            }
            let more = unread.count > 1 ? "\(unread.count - 1) more refused saves here" : nil
            guard more.map(text.contains) ?? !text.contains("more refused") else {
                return "counts otherwise than \(unread.count): \(text)"
            }
            return nil
        }

        /// The paths of the directories that show `.error`.
        var shown: Set<String> {
            Set(types.filter { $0.value.isShown }.map(\.key)).union(names.keys)
        }
    }

    @Test("each tells of what was refused last, and goes with it", arguments: UInt64(1)...16)
    func walk(seed: UInt64) throws {
        let walk = try Walk(seed: seed)
        var steps: [String] = []
        for _ in 0..<150 {
            let before = walk.shown
            _ = walk.fixture.notices.take()
            steps.append(try walk.step())
            let told = walk.fixture.notices.take()
            var problem = try walk.problem()
            // The kernel sees no other change of these names.
            for path in before.symmetricDifference(walk.shown).subtracting(walk.seen) {
                let directory = try #require(walk.directories[path])
                if !told.contains(.content(directory)) { problem = "\(path) is not told of" }
            }
            guard let problem else { continue }
            Issue.record("\(problem) after\n\(steps.suffix(12).joined(separator: "\n"))")
            return
        }
    }
}
