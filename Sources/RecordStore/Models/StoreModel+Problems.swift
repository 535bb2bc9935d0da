package import RecordModel
import RecordObjects
import RecordSQL

/// The problems of objects. None of it is a reason to refuse them: the server may have them so.
extension StoreModel {
    /// The largest number of wrong names, or of private objects, that are shown.
    private static let wrongShown = 20

    /// Returns what is wrong with an object by the rules of the attached model, one sentence each.
    /// Empty for an object without problems, for every other record, and without a model.
    package func problems(of record: RecordID) throws(RecordError) -> [String] {
        guard let object = try object(record), let text = try store.savedText(of: record) else {
            return []
        }
        let schema = try store.schema(of: object.type)
        let document: RecordDocument
        do throws(RecordError) {
            document = try RecordDocument(
                parsing: text, schema: schema, limits: store.options.limits.asReceived)
        } catch  where error.isAboutContent {
            return ["\(error)"]
        }
        var problems = document.brokenRules
        var wrong: [String] = []
        for relation in object.relations {
            let names = try names(in: relation, of: object, document)
            if relation.isList, let problem = relation.problem(ofCount: names.count) {
                problems.append(problem)
            }
            for name in names where wrong.count <= Self.wrongShown {
                guard let problem = try problem(of: name, in: relation, of: object) else {
                    continue
                }
                wrong.append("\"\(relation.name)\" names \(name), which is \(problem)")
            }
        }
        if wrong.count > Self.wrongShown { wrong[Self.wrongShown] = "..." }
        return problems + wrong
    }

    /// Returns what is wrong with an object that a relationship names. Nil for a right one.
    private func problem(
        of name: RecordName, in relation: Relation, of object: Object
    ) throws(RecordError) -> String? {
        guard let entry = try store.record(named: name, in: object.zone), entry.state == .saved
        else { return try isShared(name, apartFrom: object) ? nil : "not there" }
        guard let type = try store.type(entry.type)?.name,
            // It may be an object of an entity that only a newer model has.
            attached?.mapping.members(of: type) != nil, !relation.leads(to: type)
        else { return nil }
        return "an object of \(type), and the model wants \(relation.destination)"
    }

    /// Returns what is wrong with the numbers of objects in the relationships of an object.
    package func countProblems(of record: RecordID) throws(RecordError) -> [String] {
        // Every save asks.
        guard attached?.mapping.hasCounts == true, let object = try object(record) else {
            return []
        }
        var problems: [String] = []
        for relation in object.relations where relation.isList && relation.hasCounts {
            let count = try names(in: relation, of: object, nil).count
            if let problem = relation.problem(ofCount: count) { problems.append(problem) }
        }
        return problems
    }

    /// Returns whether an object of a private type has stayed here while the object that it names was
    /// shared in another zone.
    private func isShared(
        _ name: RecordName, apartFrom object: Object
    ) throws(RecordError) -> Bool {
        guard attached?.privateTypes.contains(object.type) == true else { return false }
        return try store.read { connection throws(RecordError) in
            try connection.exists(
                """
                SELECT 1 FROM zone z CROSS JOIN record r ON r.zone_id = z.id AND r.name = ?
                WHERE z.removed = 0 AND r.state = 0
                """, [.name(name)])
        }
    }

    private struct Object {
        let name: RecordName
        let zone: ZoneID
        let type: RecordTypeName
        let relations: [Relation]
    }

    /// Returns the first objects of private types in a zone, as `TYPE/NAME`, and whether there are
    /// more.
    package func privateObjects(
        in zone: ZoneID
    ) throws(RecordError) -> (first: [String], hasMore: Bool) {
        var found: [String] = []
        for type in attached?.privateTypes.sorted() ?? [] {
            found += try store.read { connection throws(RecordError) in
                try connection.all(
                    """
                    SELECT r.stem FROM record r JOIN record_type t ON t.id = r.type_id
                    WHERE t.zone_id = ? AND t.name = ? AND r.state = 0 ORDER BY r.stem LIMIT ?
                    """,
                    [
                        .integer(zone.rawValue), .name(type),
                        .integer(Int64(Self.wrongShown + 1)),
                    ]
                ) { "\(type)/\(Stem(bytes: $0.bytes(0)))" }
            }
        }
        return (Array(found.prefix(Self.wrongShown)), found.count > Self.wrongShown)
    }

    /// Returns whether a record is an object of the attached model.
    package func isObject(_ record: RecordID) throws(RecordError) -> Bool {
        guard let attached, let entry = try store.record(record),
            let type = try store.type(entry.type)
        else { return false }
        return attached.mapping.members(of: type.name) != nil
    }

    /// Returns the object that a record is. Nil for every other record, and without a model.
    private func object(_ record: RecordID) throws(RecordError) -> Object? {
        guard let mapping = attached?.mapping, let entry = try store.record(record),
            entry.state == .saved, let type = try store.type(entry.type),
            mapping.members(of: type.name) != nil, let meta = try store.meta(of: record)
        else { return nil }
        return Object(
            name: meta.name, zone: type.zone, type: type.name,
            relations: mapping.relations(of: type.name))
    }

    /// Returns the names of the objects in a relationship: those that records hold, and those that
    /// wait.
    private func names(
        in relation: Relation, of object: Object, _ document: RecordDocument?
    ) throws(RecordError) -> [RecordName] {
        if case .key(let field) = relation.form {
            guard case .string(let name)? = document?[field], !name.isEmpty else { return [] }
            return [RecordName(bytes: name.utf8)]
        }
        guard let field = relation.listField else { return [] }
        let list = ObjectList(
            zone: object.zone, owner: object.name, relationship: relation.name)
        return try store.read { connection throws(RecordError) in
            try connection.names(in: list, by: field)
        }
    }
}
