import Foundation
import RecordModel
import RecordStore
import RecordTree
import TestSupport
import Testing

/// What ext4 has after the same renames: the names, and what is in the files.
private struct PlainFiles: Equatable {
    var files: [String: String] = [:]

    mutating func rename(_ from: String, _ to: String) {
        files[to] = files.removeValue(forKey: from)
    }
    mutating func exchange(_ one: String, _ other: String) {
        (files[one], files[other]) = (files[other], files[one])
    }
}

@Suite("Records and their large fields renamed by tools")
struct MovedFieldTests {
    /// How tools give several files each other's names.
    enum Tool: String, CaseIterable {
        /// Each name in turn; what is in the way goes aside as `NAME~`.
        case vidir
        /// Around each cycle, through one name of its own.
        case mmv
        /// All to names of its own, then all to the new names.
        case qmv
        /// As mmv, the large fields before the records.
        case filesFirst

        func renames(_ plan: [(from: String, to: String)]) -> [(String, String)] {
            switch self {
            case .vidir:
                var at = Dictionary(uniqueKeysWithValues: plan.map { ($0.from, $0.from) })
                var taken = Set(plan.map(\.from))
                var steps: [(String, String)] = []
                for (from, to) in plan where at[from] != to {
                    if taken.contains(to), let holder = at.first(where: { $0.value == to })?.key {
                        steps.append((to, to + "~"))
                        at[holder] = to + "~"
                    }
                    guard let now = at[from] else { continue }
                    steps.append((now, to))
                    taken.remove(now)
                    taken.insert(to)
                    at[from] = to
                }
                return steps
            case .mmv: return cycles(plan)
            case .filesFirst:
                return cycles(plan.filter { $0.from.contains("@") })
                    + cycles(plan.filter { !$0.from.contains("@") })
            case .qmv:
                let named = plan.enumerated().map { ("qmv-\($0.offset)", $0.element) }
                return named.map { ($0.1.from, $0.0) } + named.map { ($0.0, $0.1.to) }
            }
        }

        private func cycles(_ plan: [(from: String, to: String)]) -> [(String, String)] {
            var steps: [(String, String)] = []
            var left = plan.filter { $0.from != $0.to }
            while let first = left.first {
                left.removeFirst()
                steps.append((first.from, "mmv-tmp"))
                var free = first.from
                while let index = left.firstIndex(where: { $0.to == free }) {
                    let next = left.remove(at: index)
                    steps.append((next.from, next.to))
                    free = next.from
                }
                steps.append(("mmv-tmp", first.to))
            }
            return steps
        }
    }

    private func fixture(_ names: [String], without: Set<String> = []) throws -> (
        TreeFixture, PlainFiles
    ) {
        let fixture = try TreeFixture()
        var plain = PlainFiles()
        for name in names {
            try fixture.put("{\"k\": \"\(name)\"}", as: "\(name).json")
            plain.files["\(name).json"] = name
            guard !without.contains(name) else { continue }
            try fixture.put("photo of \(name)", as: "\(name)@photo.jpg")
            plain.files["\(name)@photo.jpg"] = "photo of \(name)"
        }
        return (fixture, plain)
    }

    /// The tree as the plain files of a model: of a record its `k`.
    private func shown(_ fixture: TreeFixture) throws -> PlainFiles {
        var plain = PlainFiles()
        for name in try fixture.names() {
            let text = try #require(try fixture.text(name))
            plain.files[name] =
                name.hasSuffix(".json")
                ? try JSONParser.parse(Array(text.utf8))["k"]?.string.map { "\($0)" } ?? text : text
        }
        return plain
    }

    private func outlastGrace(_ fixture: TreeFixture) throws {
        fixture.clock.advance(.seconds(4))
        _ = try fixture.tree.maintain()
    }

    @Test("they exchange their names through others", arguments: Tool.allCases)
    func exchanged(_ tool: Tool) throws {
        let (fixture, before) = try fixture(["a", "b"])
        var plain = before
        let plan = [
            ("a.json", "b.json"), ("a@photo.jpg", "b@photo.jpg"), ("b.json", "a.json"),
            ("b@photo.jpg", "a@photo.jpg"),
        ]
        for (from, to) in tool.renames(plan) {
            try fixture.rename(from, to: to)
            plain.rename(from, to)
        }
        try outlastGrace(fixture)
        #expect(try shown(fixture) == plain)
        #expect(try shown(fixture).files["a@photo.jpg"] == "photo of b")
    }

    @Test("any permutation of names by any tool ends as on a disk", arguments: 0..<120)
    func permuted(_ seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let names = ["a", "b", "c", "d"]
        let to = names.shuffled(using: &random)
        let tool = Tool.allCases[seed % Tool.allCases.count]
        let (fixture, before) = try fixture(names)
        var plain = before
        var plan: [(String, String)] = []
        for (name, new) in zip(names, to) {
            plan += [("\(name).json", "\(new).json"), ("\(name)@photo.jpg", "\(new)@photo.jpg")]
        }
        for (from, to) in tool.renames(plan) {
            try fixture.rename(from, to: to)
            plain.rename(from, to)
        }
        try outlastGrace(fixture)
        #expect(try shown(fixture) == plain, "\(tool) \(plan)")
    }

    @Test("large fields go along when the tool renames the records alone", arguments: Tool.allCases)
    func followed(_ tool: Tool) throws {
        let (fixture, _) = try fixture(["a", "b"])
        for (from, to) in tool.renames([("a.json", "b.json"), ("b.json", "a.json")]) {
            try fixture.rename(from, to: to)
        }
        try outlastGrace(fixture)
        let files = try shown(fixture).files
        #expect(files["a.json"] == "b" && files["a@photo.jpg"] == "photo of b", "\(files)")
        #expect(files["b.json"] == "a" && files["b@photo.jpg"] == "photo of a", "\(files)")
    }

    @Test("a record that is renamed takes its large field along, also over another one")
    func renamed() throws {
        let (fixture, _) = try fixture(["a", "b"])
        try fixture.rename("a.json", to: "c.json")
        #expect(try fixture.text("c@photo.jpg") == "photo of a")
        try fixture.rename("c.json", to: "b.json")
        try outlastGrace(fixture)
        #expect(
            try shown(fixture).files == ["b.json": "a", "b@photo.jpg": "photo of a"])
    }

    @Test("a large field may be renamed before its record")
    func fieldFirst() throws {
        let (fixture, _) = try fixture(["a"])
        try fixture.rename("a@photo.jpg", to: "c@photo.jpg")
        try fixture.rename("a.json", to: "c.json")
        try outlastGrace(fixture)
        #expect(try shown(fixture).files == ["c.json": "a", "c@photo.jpg": "photo of a"])
    }

    @Test("RENAME_EXCHANGE of two large fields exchanges them in one transaction")
    func exchangedFields() throws {
        let (fixture, _) = try fixture(["a", "b"])
        try fixture.put("long", as: "a@film.mp4")
        let open = try fixture.openNew("a@photo.jpg", flags: O_RDONLY)
        let nodes = (
            try fixture.lookup("a@photo.jpg")?.node, try fixture.lookup("b@photo.jpg")?.node
        )
        try fixture.rename("a@photo.jpg", to: "b@photo.jpg", flags: 2)
        #expect(try fixture.text("a@photo.jpg") == "photo of b")
        #expect(try fixture.text("b@photo.jpg") == "photo of a")
        #expect(try fixture.read(open) == "photo of a")
        #expect(try fixture.lookup("a@photo.jpg")?.node == nodes.1)
        #expect(try fixture.lookup("b@photo.jpg")?.node == nodes.0)
        fixture.tree.release(open)
        try fixture.rename("a@photo.jpg", to: "a@film.mp4", flags: 2)
        #expect(try fixture.text("a@film.mp4") == "photo of b")
        #expect(try fixture.text("a@photo.jpg") == "long")
        try fixture.put("scratch", as: "x")
        try fixture.rename("x", to: "a@photo.jpg", flags: 2)
        #expect(try fixture.text("a@photo.jpg") == "scratch")
        #expect(try fixture.text("x") == "long")
    }

    @Test(
        "RENAME_EXCHANGE of two records exchanges their large fields, also when the tool says so again",
        arguments: [false, true])
    func exchangedRecords(_ isSaidTwice: Bool) throws {
        let (fixture, before) = try fixture(["a", "b"])
        var plain = before
        plain.exchange("a.json", "b.json")
        plain.exchange("a@photo.jpg", "b@photo.jpg")
        try fixture.rename("a.json", to: "b.json", flags: 2)
        if isSaidTwice { try fixture.rename("a@photo.jpg", to: "b@photo.jpg", flags: 2) }
        try outlastGrace(fixture)
        #expect(try shown(fixture) == plain)
    }

    @Test("of two records one of which has no large field, the field goes along")
    func oneField() throws {
        let (fixture, _) = try fixture(["a", "b"], without: ["a"])
        for (from, to) in Tool.vidir.renames([("a.json", "b.json"), ("b.json", "a.json")]) {
            try fixture.rename(from, to: to)
        }
        try outlastGrace(fixture)
        #expect(
            try shown(fixture).files == [
                "a.json": "b", "a@photo.jpg": "photo of b", "b.json": "a",
            ])
    }

    @Test("bytes that come under the name before the grace is over stay", arguments: [true, false])
    func writtenMeanwhile(_ isElsewhere: Bool) throws {
        let (fixture, _) = try fixture(["a", "b"])
        try fixture.remove("b.json")
        try fixture.rename("a.json", to: "b.json")
        if isElsewhere {
            let path = fixture.directory + "/new"
            try Data("photo of c".utf8).write(to: URL(fileURLWithPath: path))
            let (hash, size) = try fixture.store.assets.importAsset(fromFile: path)
            let record = try #require(try fixture.record("b"))
            try fixture.store.write(author: .commandLine) { transaction throws(RecordError) in
                _ = try transaction.assets.setAsset(
                    record.id, FieldName("photo"), nil, hash, size: size,
                    fileExtension: Array("jpg".utf8))
            }
        } else {
            try fixture.put("photo of c", as: "b@photo.jpg")
        }
        try outlastGrace(fixture)
        #expect(try shown(fixture).files == ["b.json": "a", "b@photo.jpg": "photo of c"])
    }

    /// Names from and to; no name to is a removal.
    static let replacements: [[(from: String, to: String?)]] = [
        [("b.json", nil), ("a.json", "b.json")],
        [("b.json", "b.json~"), ("a.json", "b.json")],
        [("b.json", nil), ("a.json", "x"), ("x", "b.json")],
        [("b.json", nil), ("a.json", "b.json"), ("b.json", "c.json"), ("c.json", "b.json")],
    ]

    private func replace(_ fixture: TreeFixture, _ steps: [(from: String, to: String?)]) throws {
        for (from, to) in steps {
            if let to { try fixture.rename(from, to: to) } else { try fixture.remove(from) }
        }
    }

    @Test("a kill while a large field waits to follow its record loses nothing", arguments: 0..<4)
    func killed(_ index: Int) throws {
        let (fixture, _) = try fixture(["a", "b"])
        try replace(fixture, Self.replacements[index])
        let after = try TreeFixture(after: fixture)
        let files = try shown(after).files.filter { !$0.key.hasSuffix("~") }
        #expect(files == ["b.json": "a", "b@photo.jpg": "photo of a"])
        try outlastGrace(after)
        #expect(try shown(after).files.filter { !$0.key.hasSuffix("~") } == files)
    }

    @Test("what the tool has said before a kill holds")
    func killedAfterFiles() throws {
        let (fixture, _) = try fixture(["a", "b"])
        try fixture.remove("b.json")
        try fixture.rename("a.json", to: "b.json")
        try fixture.rename("a@photo.jpg", to: "c@photo.jpg")
        let after = try TreeFixture(after: fixture)
        #expect(try shown(after).files["b@photo.jpg"] == "photo of b")
        #expect(try after.text("c@photo.jpg") == "photo of a")
    }

    @Test("a large field that waits to follow goes along with what its record becomes next")
    func chained() throws {
        for next in [["c.json"], ["c.json", "a.json"], ["x", "c.json"]] {
            let (fixture, _) = try fixture(["a", "b"])
            try replace(fixture, Self.replacements[0])
            var name = "b.json"
            for to in next {
                try fixture.rename(name, to: to)
                name = to
            }
            try outlastGrace(fixture)
            let stem = String(name.dropLast(5))
            #expect(
                try shown(fixture).files == [name: "a", "\(stem)@photo.jpg": "photo of a"],
                "\(next)")
        }
    }

    @Test("a large field follows a record that is saved, or exchanged, while it waits")
    func savedMeanwhile() throws {
        let (fixture, _) = try fixture(["a", "b", "c"])
        try replace(fixture, Self.replacements[0])
        try fixture.put(try #require(try fixture.text("b.json")), as: "sedA1")
        try fixture.rename("sedA1", to: "b.json")
        try fixture.rename("b.json", to: "c.json", flags: 2)
        try outlastGrace(fixture)
        #expect(
            try shown(fixture).files == [
                "c.json": "a", "c@photo.jpg": "photo of a", "b.json": "c",
                "b@photo.jpg": "photo of c",
            ])
    }

    @Test("a record that is removed and written back while its large field waits has it then")
    func backMeanwhile() throws {
        let (fixture, _) = try fixture(["a", "b"])
        try replace(fixture, Self.replacements[0])
        let text = try #require(try fixture.text("b.json"))
        fixture.clock.advance(.seconds(2))
        try fixture.remove("b.json")
        fixture.clock.advance(.seconds(2))
        _ = try fixture.tree.maintain()
        try fixture.put(text, as: "b.json")
        try outlastGrace(fixture)
        #expect(try shown(fixture).files == ["b.json": "a", "b@photo.jpg": "photo of a"])
    }
}
