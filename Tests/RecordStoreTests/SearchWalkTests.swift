import RecordModel
import RecordSQL
import TestSupport
import Testing

@testable import RecordStore

/// Random changes of records and of their schema, between searches and queries whose indexes are
/// made and updated at random times: they find what a look at every record finds.
@Suite struct SearchWalkTests {
    @Test(
        "searches and queries find what a look at every record finds, whatever an index knows",
        arguments: LongForm.seeds(12, of: 150))
    func walk(_ seed: Int) throws {
        let walk = try SearchWalk(seed: UInt64(seed))
        try walk.take(120, seed: seed)
        try walk.fixture.expectSound()
    }
}

private final class SearchWalk: StoreWalk {
    private typealias Values = SearchModel.Values
    let fixture: StoreFixture
    private var model = SearchModel()
    private var random: SeededRandom
    private(set) var steps: [String] = []
    private(set) var differences: [String] = []

    init(seed: UInt64) throws {
        fixture = try StoreFixture()
        random = SeededRandom(seed: seed)
        for type in types { try save(type, "\(type.name)0", values(tags: ["tea"])) }
    }

    private var types: [(name: String, id: TypeID)] {
        [("Note", fixture.note), ("Task", fixture.task)]
    }

    func next() throws {
        fixture.clock.advance(.seconds(1))
        let type = random.pick(types)
        steps.append(try step(type, "\(type.name)\(random.below(5))"))
        if random.below(3) == 0 { try expectFound() }
    }

    private func step(_ type: (name: String, id: TypeID), _ stem: String) throws -> String {
        let path = "\(type.name)/\(stem)"
        let entry = try fixture.record(stem, type: type.id)
        switch random.below(14) {
        case 0, 1, 2, 3, 4: return try save(type, stem)
        case 5:
            guard let entry, entry.state == .saved else { return "nothing" }
            try fixture.beginDelete(entry.id)
            model.shown[path] = nil
            return "remove \(path)"
        case 6:
            guard let entry, entry.state == .saved else { return "nothing" }
            try fixture.delete(entry.id)
            model.shown[path] = nil
            return "delete \(path)"
        case 7: return try restore(path, type.id, stem, isThere: entry != nil)
        case 8: return try rename(type, stem)
        case 9: return try changeSchema(type.name)
        case 10: return try makeIndexes(type)
        case 11: return try tell(type, stem)
        case 12:
            try fixture.reopen()
            return "reopen"
        default:
            fixture.clock.advance(.seconds(100 * 24 * 3600))
            while try fixture.store.upkeep.keepSmall() {}
            return "purge"
        }
    }

    // MARK: Changes

    private func values(tags: [String]? = nil) -> Values {
        let count = random.below(3) + 1
        return Values(
            title: (0..<count).map { _ in random.pick(SearchModel.words) }.joined(separator: " "),
            tags: tags ?? (0..<random.below(3)).map { _ in random.pick(SearchModel.words) },
            number: random.below(4), when: random.pick(SearchModel.days))
    }

    @discardableResult
    private func save(
        _ type: (name: String, id: TypeID), _ stem: String, _ values: Values? = nil
    ) throws -> String {
        let values = values ?? self.values()
        try fixture.save(stem, values.text, type: type.id)
        model.shown["\(type.name)/\(stem)"] = values
        return "save \(type.name)/\(stem) \(values.text)"
    }

    /// The server's record, which is the user's own where somebody has just edited it.
    private func tell(_ type: (name: String, id: TypeID), _ stem: String) throws -> String {
        let path = "\(type.name)/\(stem)"
        guard let id = try fixture.record(stem, type: type.id)?.id,
            let name = try fixture.store.meta(of: id)?.name, model.shown[path] != nil
        else { return "nothing" }
        try fixture.write { transaction throws(RecordError) in
            try transaction.connection.run("DELETE FROM outbox WHERE record_id = \(id.rawValue)")
        }
        let values = self.values()
        let when: FieldValue =
            model.typesOfText.contains(type.name)
            ? .string(Text(values.when))
            : .timestamp(milliseconds: ISO8601.parse(Array(values.when.utf8)) ?? 0)
        try fixture.upsert(
            "\(name)",
            [
                "title": .string(Text(values.title)),
                "tags": .list(values.tags.map { .string(Text($0)) }),
                "n": .int64(Int64(values.number)), "when": when,
            ], type: type.name, tag: "t\(steps.count)")
        model.shown[path] = values
        return "told of \(path) \(values.text)"
    }

    private func restore(
        _ path: String, _ type: TypeID, _ stem: String, isThere: Bool
    ) throws -> String {
        guard !isThere,
            let entry = try fixture.store.past.trash(in: type).first(where: {
                $0.stem == Stem(stem)
            })
        else { return "nothing" }
        let text = try #require(try fixture.store.past.trashed(entry.id)).text
        _ = try fixture.write(.restore) { transaction throws(RecordError) in
            try transaction.records.restore(entry.id)
        }
        model.shown[path] = Values(try JSONParser.parse(text))
        return "restore \(path)"
    }

    private func rename(_ type: (name: String, id: TypeID), _ stem: String) throws -> String {
        let other = "\(type.name)\(random.below(7))"
        guard other != stem, let entry = try fixture.record(stem, type: type.id),
            entry.state == .saved
        else { return "nothing" }
        _ = try fixture.write { transaction throws(RecordError) in
            try transaction.records.rename(entry.id, toType: type.id, stem: Stem(other))
        }
        model.shown["\(type.name)/\(other)"] = model.shown.removeValue(
            forKey: "\(type.name)/\(stem)")
        return "rename \(type.name)/\(stem) to \(other)"
    }

    /// The field `when` of all records becomes a time, or a text again: the texts fit both.
    private func changeSchema(_ type: String) throws -> String {
        let isText = model.typesOfText.contains(type)
        let name = RecordTypeName(type)
        let fields = try fixture.store.schema(of: name).fields.map { field in
            field.name == FieldName("when")
                ? RecordSchema.Field(name: field.name, type: isText ? .timestamp : .string) : field
        }
        do throws(RecordError) {
            try fixture.write(.commandLine) { transaction throws(RecordError) in
                try transaction.setSchema(RecordSchema(fields: fields), of: name)
            }
        } catch {
            guard error.code == .schemaMismatch else { throw error }
            // The server's text of a time is tagged, and no text.
            return "keep the schema of \(type)"
        }
        if isText { model.typesOfText.remove(type) } else { model.typesOfText.insert(type) }
        return "when of \(type) is \(isText ? "a time" : "a text")"
    }

    private func makeIndexes(_ type: (name: String, id: TypeID)) throws -> String {
        let query = random.pick(["title=tea", "n=1", "tags=Time", "when=\(SearchModel.days[0])"])
        try fixture.store.index.wantIndexes(type.id, try expression(query, type.name))
        while try fixture.store.index.keepIndexes() {}
        return "index for \(query) of \(type.name)"
    }

    // MARK: Comparison

    private func expression(_ query: String, _ type: String) throws -> QueryExpression {
        try QueryExpression(
            parsing: Array(query.utf8), schema: try fixture.store.schema(of: RecordTypeName(type)))
    }

    private func expect(_ what: String, _ found: [RecordEntry], _ right: [String]) throws {
        let found = try found.map { entry in
            let type = try #require(try fixture.store.type(entry.type)).name
            return "\(type)/\(entry.stem)"
        }.sorted()
        if found != right { differences.append("\(what) finds \(found) and not \(right)") }
    }

    private func expectFound() throws {
        let words = SearchModel.words
        for search in words + ["2026", random.pick(words) + " " + random.pick(words)] {
            let found = try fixture.store.index.search(fixture.zone.id, words: search)
            try expect("a search for \(search)", found, model.found(search))
        }
        for type in types {
            let day = random.pick(SearchModel.days)
            let (title, tag) = (random.pick(words), random.pick(words))
            let number = random.below(4)
            let queries: [(String, (SearchModel.Values) -> Bool)] = [
                ("title=\(title)", { $0.title == title }),
                ("n=\(number)", { $0.number == number }),
                ("n=\(number)|0,n<3", { [number, 0].contains($0.number) && $0.number < 3 }),
                ("tags=\(tag)", { $0.tags.contains(tag) }),
                ("when=\(day)", { $0.when == day }),
                ("when=\(day),n!=\(number)", { $0.when == day && $0.number != number }),
            ]
            for (query, isRight) in queries {
                let found = try fixture.store.index.query(
                    type.id, try expression(query, type.name))
                try expect(
                    "\(query) of \(type.name)", found, model.found(in: type.name, isRight))
                for stem in ["\(type.name)0", "\(type.name)5"] {
                    let hit = try fixture.store.index.match(
                        type.id, try expression(query, type.name), Stem(stem))
                    let isFound = found.contains { $0.stem == Stem(stem) }
                    if (hit != nil) != isFound {
                        differences.append("\(query) matches \(stem): \(hit != nil)")
                    }
                }
            }
        }
    }
}
