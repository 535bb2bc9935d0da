import RecordModel
package import RecordWire

/// A query whose values have the types of the schema, ready to test records.
package struct QueryEvaluator: Sendable {
    let type: RecordTypeName
    let tests: [QueryTest]
    /// The order of the answer. Records with equal keys are in the order of names.
    let order: QueryOrder

    /// Compiles a query. Without `needsIndexes` it needs no index: it is then not searched with, as
    /// in subscriptions.
    ///
    /// Errors: NOT_FOUND for an unknown type; BAD_REQUEST for an unknown field, a value of another
    /// type, or a missing index: the reason names it and says how to add it.
    package init(
        query: WireQuery, schema: ContainerSchema, needsIndexes: Bool = true
    ) throws(ServerError) {
        guard let type = schema.type(query.recordType) else {
            throw ServerError(.notFound, "Did not find record type: \(query.recordType)")
        }
        let compiler = QueryCompiler(type: type, needsIndexes: needsIndexes)
        self.type = query.recordType
        if query.filters.isEmpty {
            try compiler.require(
                .queryable, of: type.field(.recordName), "A query without filter")
        }
        var tests: [QueryTest] = []
        for (index, filter) in query.filters.enumerated() {
            tests.append(try compiler.test(filter, place: "query.filterBy[\(index)]"))
        }
        self.tests = tests
        guard query.sorts.count <= QueryOrder.maximumKeys else {
            throw ServerError(
                .badRequest, "query.sortBy: at most \(QueryOrder.maximumKeys) fields.")
        }
        var keys: [QueryOrder.Key] = []
        for (index, sort) in query.sorts.enumerated() {
            keys.append(try compiler.key(sort, place: "query.sortBy[\(index)]"))
        }
        order = QueryOrder(keys, tests: tests)
    }

    /// Indicates whether the query reads the fields of a record, and not only the values that the
    /// storage has in columns.
    var needsFields: Bool {
        tests.contains { $0.field.isClient } || order.keys.contains { $0.field.isClient }
    }

    /// Returns whether the record, with these (decoded) fields, has the query's type and passes all
    /// filters. References without a zone are to records of `zone`. Without `zone`, the zones of
    /// references are ignored.
    package func matches(
        _ record: StoredRecord, fields: [WireField], zone: ZoneKey? = nil
    ) -> Bool {
        guard record.type == type, !record.isDeleted else { return false }
        return tests.allSatisfy { $0.passes(record.value(of: $0.field, fields), home: zone) }
    }
}

extension QueryField {
    var isClient: Bool {
        if case .field = self { true } else { false }
    }
}

extension StoredRecord {
    func value(of field: QueryField, _ fields: [WireField]) -> WireValue? {
        switch field {
        case .system(let system): value(of: system)
        case .field(let name): fields.first { $0.name == name }?.value
        }
    }
}

/// Reads filters and sort orders by the schema of their type.
struct QueryCompiler {
    let type: TypeSchema
    let needsIndexes: Bool

    func test(_ filter: QueryFilter, place: String) throws(ServerError) -> QueryTest {
        let definition = try definition(filter.field, place)
        let rule = ComparatorRule(filter.comparator)
        guard definition.isComparable else {
            throw ServerError(
                .badRequest,
                "\(place): the field '\(definition.name)' is \(definition.type.name), which no "
                    + "query can filter by.")
        }
        guard rule.fits(definition.type) else {
            throw ServerError(
                .badRequest,
                "\(place): \(filter.comparator.rawValue) cannot be asked of the field "
                    + "'\(definition.name)', which is \(definition.type.name).")
        }
        try require(rule.index, of: definition, "\(place): \(filter.comparator.rawValue)")
        let operand = try OperandReader(type: definition.type, place: place).operand(
            rule.kind, filter.value.value, distance: filter.distance)
        return QueryTest(
            field: filter.field, definition: definition, rule: rule, operand: operand)
    }

    func key(_ sort: QuerySort, place: String) throws(ServerError) -> QueryOrder.Key {
        let definition = try definition(sort.field, place)
        let isLocation = definition.type == .location
        guard isLocation == (sort.relativeLocation != nil) else {
            throw ServerError(
                .badRequest,
                isLocation
                    ? "\(place): the field '\(definition.name)' is LOCATION, which is sorted by "
                        + "its distance from relativeLocation."
                    : "\(place): relativeLocation is for fields of type LOCATION, and "
                        + "'\(definition.name)' is \(definition.type.name).")
        }
        if case .list = definition.type { throw unsortable(definition, place) }
        guard definition.isComparable else { throw unsortable(definition, place) }
        try require(.sortable, of: definition, "\(place): an order")
        return QueryOrder.Key(
            field: sort.field, isAscending: sort.ascending, center: sort.relativeLocation)
    }

    private func unsortable(_ field: SchemaDocument.Field, _ place: String) -> ServerError {
        ServerError(
            .badRequest,
            "\(place): the field '\(field.name)' is \(field.type.name), which has no order.")
    }

    private func definition(
        _ field: QueryField, _ place: String
    ) throws(ServerError) -> SchemaDocument.Field {
        switch field {
        case .system(let system): return type.field(system)
        case .field(let name):
            guard let field = type.field(name), !field.isSystem else {
                throw ServerError(
                    .badRequest,
                    "\(place): record type '\(type.name)' has no field '\(name)' in the schema.")
            }
            return field
        }
    }

    func require(
        _ index: NeededIndex, of field: SchemaDocument.Field, _ what: String
    ) throws(ServerError) {
        guard needsIndexes, !field.has(index) else { return }
        let name =
            switch index {
            case .queryable, .queryableOrSortable: "QUERYABLE"
            case .sortable: "SORTABLE"
            case .searchable: "SEARCHABLE"
            }
        var wanted = field
        switch index {
        case .queryable, .queryableOrSortable: wanted.field.isQueryable = true
        case .sortable: wanted.field.isSortable = true
        case .searchable: wanted.field.isSearchable = true
        }
        throw ServerError(
            .badRequest,
            "\(what) needs the field '\(field.name)' of record type '\(type.name)' to be "
                + "\(name). Write `\(wanted.text)` in RECORD TYPE \(type.name) of the schema, "
                + "import it into development and deploy it.")
    }
}

extension SchemaDocument.Field {
    /// Indicates whether values of the type can be compared at all.
    var isComparable: Bool {
        let element = if case .list(let element) = type { element } else { type }
        return element != .asset && element != .json && !field.isEncrypted
    }
}
