import RecordModel
import RecordStore
import TestSupport
import Testing

/// Random values in the records of one type in two zones: fields get their types from the values and
/// from what somebody declares, and a refusal changes nothing.
@Suite struct SchemaWalkTests {
    @Test(
        "fields get, widen and keep their types as a plain model says",
        arguments: LongForm.seeds(8, of: 400))
    func walk(_ seed: Int) throws {
        let walk = try SchemaWalk(seed: UInt64(seed))
        try walk.take(50, seed: seed)
    }

    /// All pairs of a first and a second value, each in a field of its own.
    @Test("a second value fits the first or is refused")
    func pairs() throws {
        let fixture = try StoreFixture()
        var model = SchemaModel()
        for (row, first) in ModelValue.allCases.enumerated() {
            for (column, second) in ModelValue.allCases.enumerated() {
                let field = "f\(row)_\(column)"
                let comment = Comment(rawValue: "\(first) then \(second)")
                for (name, value) in [("a\(row % 8)", first), ("b", second)] {
                    let isRight = model.save(name, [field: value])
                    let error = failure {
                        try fixture.save(name, "{\"\(field)\":\(value.rawValue)}")
                    }
                    #expect(error?.code == (isRight ? nil : .schemaMismatch), comment)
                }
                let schema = try fixture.store.schema(of: RecordTypeName("Note"))
                #expect(
                    schema.type(of: FieldName(field))?.name == model.fields[field]?.type.rawValue,
                    comment)
            }
        }
        try fixture.expectSound()
    }
}

private final class SchemaWalk: StoreWalk {
    private let fixture: StoreFixture
    private let types: [TypeID]
    private let typeName = RecordTypeName("Note")
    private var random: SeededRandom
    private var model = SchemaModel()
    private(set) var steps: [String] = []
    private(set) var differences: [String] = []

    init(seed: UInt64) throws {
        let fixture = try StoreFixture()
        let other = try fixture.write { transaction throws(RecordError) in
            let zone = try transaction.makeZone(.private, .me, ZoneName("Other"))
            return try transaction.makeType(zone.id, RecordTypeName("Note")).id
        }
        self.fixture = fixture
        types = [fixture.note, other]
        random = SeededRandom(seed: seed)
    }

    func next() throws {
        fixture.clock.advance(.seconds(1))
        let place = random.below(2)
        let stem = random.pick(["a", "b", "c"])
        steps.append(try step("\(place)/\(stem)", types[place], stem))
        try expectModel()
        if steps.count.isMultiple(of: 10) { try fixture.expectSound() }
    }

    private func step(_ key: String, _ type: TypeID, _ stem: String) throws -> String {
        switch random.below(10) {
        case 0, 1, 2, 3, 4: return try save(key, type, stem)
        case 5, 6:
            guard let record = try fixture.record(stem, type: type) else { return "nothing" }
            // A record that waits for its deletion may come back, and counts until then.
            if random.below(3) == 0 {
                try fixture.beginDelete(record.id)
                return "remove \(key)"
            }
            try fixture.delete(record.id)
            model.records[key] = nil
            return "delete \(key)"
        case 7: return try declare()
        case 8:
            _ = try fixture.draft(random.pick(["d", "e"]), "{\"n\":\"no\",")
            return "refused text"
        default:
            try fixture.reopen()
            return "reopen"
        }
    }

    private func save(_ key: String, _ type: TypeID, _ stem: String) throws -> String {
        var values: SchemaModel.Values = [:]
        let fitting = model.fields.mapValues { field in
            ModelValue.allCases.filter { field.type.takes($0) }
        }
        for field in ["n", "m", "k"] where random.below(3) > 0 {
            // Mostly a value that fits: other ones end the walk's variety.
            let all =
                random.below(3) == 0 ? ModelValue.allCases : fitting[field] ?? [.whole, .wholes]
            values[field] = random.pick(all)
        }
        let text = values.sorted { $0.key < $1.key }
            .map { "\"\($0.key)\":\($0.value.rawValue)" }.joined(separator: ",")
        let isRight = model.save(key, values)
        try attempt("save {\(text)} as \(key)", isRight) {
            try self.fixture.save(stem, "{\(text)}", type: type)
        }
        return "save {\(text)} as \(key): \(isRight)"
    }

    private func declare() throws -> String {
        var declared: [String: ModelType] = [:]
        for field in ["n", "m", "k"] where random.below(8) > 0 {
            let isKept = random.below(3) > 0
            declared[field] =
                isKept ? model.fields[field]?.type ?? .int : random.pick(ModelType.allCases)
        }
        let schema = RecordSchema(
            fields: declared.sorted { $0.key < $1.key }.compactMap { name, type in
                FieldType(name: type.rawValue).map { .init(name: FieldName(name), type: $0) }
            })
        let isRight = model.declare(declared)
        try attempt("declare \(declared)", isRight) {
            try self.fixture.write { transaction throws(RecordError) in
                try transaction.setSchema(schema, of: self.typeName)
            }
        }
        return "declare \(declared): \(isRight)"
    }

    private func attempt<T>(_ what: String, _ isRight: Bool, _ body: () throws -> T) throws {
        let before = try fixture.rows()
        let error = failure(body)
        if isRight {
            if let error { differences.append("\(what) is refused: \(error)") }
        } else if error?.code != .schemaMismatch {
            differences.append("\(what) is not refused: \(String(describing: error))")
        } else if try fixture.rows() != before {
            differences.append("\(what) is refused and leaves something")
        }
    }

    private func expectModel() throws {
        let schema = try fixture.store.schema(of: typeName)
        let found = Dictionary(
            schema.fields.map { ("\($0.name)", "\($0.type.name) \($0.isDeclared)") },
            uniquingKeysWith: { $1 })
        let right = model.fields.mapValues { "\($0.type.rawValue) \($0.isDeclared)" }
        if found != right { differences.append("the schema is \(found), not \(right)") }
    }
}
