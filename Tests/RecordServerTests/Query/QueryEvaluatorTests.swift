import RecordModel
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@testable import RecordServerCore

@Suite("Queries: what is refused")
struct QueryEvaluatorTests {
    private static let text = """
        DEFINE SCHEMA
            CREATE ROLE editor;
            RECORD TYPE Bare (
                s STRING, i INT64, l LOCATION, a ASSET, j JSON, ls LIST<STRING> QUERYABLE,
                sealed ENCRYPTED STRING,
                q STRING QUERYABLE, o STRING SORTABLE, p LOCATION QUERYABLE SORTABLE
            );
        """

    private func schema() throws -> ContainerSchema {
        ContainerSchema(
            container: QueryBench.container, version: 1,
            document: try SchemaDocument(parsing: Array(Self.text.utf8)))
    }

    private func refusal(_ query: WireQuery, needsIndexes: Bool = true) throws -> ServerError? {
        do {
            _ = try QueryEvaluator(
                query: query, schema: try schema(), needsIndexes: needsIndexes)
            return nil
        } catch let error as ServerError {
            return error
        }
    }

    private func query(
        _ comparator: Comparator, _ field: String, _ value: WireValue?, distance: Double? = nil
    ) -> WireQuery {
        WireQuery(
            recordType: RecordTypeName("Bare"),
            filters: [
                QueryFilter(
                    comparator: comparator, field: .field(FieldName(field)),
                    value: WireField(name: FieldName(field), value: value, type: nil),
                    distance: distance)
            ])
    }

    @Test(
        "a filter that has no index names the field, the index and the line to add",
        arguments: [
            (.equals, "s", "s STRING QUERYABLE"), (.notIn, "i", "i INT64 QUERYABLE"),
            (.lessThan, "i", "i INT64 SORTABLE"),
            (.greaterThan, "q", "q STRING QUERYABLE SORTABLE"),
            (.containsAllTokens, "q", "q STRING QUERYABLE SEARCHABLE"),
            (.beginsWith, "s", "s STRING QUERYABLE"), (.near, "l", "l LOCATION QUERYABLE"),
            (.containsAnyTokens, "ls", "ls LIST<STRING> QUERYABLE SEARCHABLE"),
        ] as [(Comparator, String, String)])
    func indexes(_ comparator: Comparator, _ field: String, _ line: String) throws {
        let error = try #require(try refusal(query(comparator, field, .string("x"))))
        #expect(error.code == .badRequest)
        #expect(error.reason.contains("`\(line)`"), "\(error.reason)")
        #expect(error.reason.contains("'\(field)' of record type 'Bare'"))
    }

    @Test("a subscription's query needs no index")
    func withoutIndexes() throws {
        #expect(try refusal(query(.equals, "s", .string("x")), needsIndexes: false) == nil)
        #expect(
            try refusal(WireQuery(recordType: RecordTypeName("Bare")), needsIndexes: false) == nil)
    }

    @Test("a prefix is found by either index of values")
    func prefix() throws {
        #expect(try refusal(query(.beginsWith, "q", .string("x"))) == nil)
        #expect(try refusal(query(.beginsWith, "o", .string("x"))) == nil)
    }

    @Test("an unfiltered query needs recordName to be QUERYABLE")
    func unfiltered() throws {
        let error = try #require(try refusal(WireQuery(recordType: RecordTypeName("Bare"))))
        #expect(error.reason.contains("`\"___recordID\" REFERENCE QUERYABLE`"), "\(error.reason)")
    }

    @Test(
        "what makes no sense is refused with BAD_REQUEST",
        arguments: [
            (.equals, "q", .int64(5), "values of type STRING"),
            (.in, "q", .string("a"), "takes a list of values"),
            (.in, "q", .list([.int64(1)]), "values of type STRING"),
            (.lessThan, "o", nil, "needs a value"),
            (.listContains, "q", .string("a"), "cannot be asked of the field 'q'"),
            (.in, "ls", .list([]), "cannot be asked of the field 'ls'"),
            (.lessThan, "p", .int64(1), "cannot be asked of the field 'p'"),
            (.near, "p", .string("x"), "values of type LOCATION"),
            (.equals, "a", .string("x"), "ASSET, which no query can filter by"),
            (.equals, "j", .string("x"), "JSON, which no query can filter by"),
            (.equals, "sealed", .string("x"), "no query can filter by"),
            (.equals, "nothing", .string("x"), "has no field 'nothing'"),
            (.containsAllTokens, "i", .string("x"), "cannot be asked of the field 'i'"),
        ] as [(Comparator, String, WireValue?, String)])
    func nonsense(
        _ comparator: Comparator, _ field: String, _ value: WireValue?, _ reason: String
    ) throws {
        let error = try #require(try refusal(query(comparator, field, value)))
        #expect(error.code == .badRequest)
        #expect(error.reason.contains(reason), "\(error.reason)")
        #expect(error.reason.hasPrefix("query.filterBy[0]"))
    }

    @Test("NEAR needs a distance, and too many values are refused")
    func values() throws {
        let place = try #require(Location(latitude: 1, longitude: 2))
        #expect(try refusal(query(.near, "p", .location(place))) != nil)
        #expect(try refusal(query(.near, "p", .location(place), distance: 5)) == nil)
        let many = WireValue.list(Array(repeating: .string("x"), count: 1_001))
        #expect(try refusal(query(.in, "q", many))?.code == .limitExceeded)
    }

    @Test("an unknown type is NOT_FOUND")
    func unknownType() throws {
        #expect(try refusal(WireQuery(recordType: RecordTypeName("Other")))?.code == .notFound)
    }

    @Test(
        "an order needs SORTABLE, and a place where the field is one",
        arguments: [
            ("q", false, "`q STRING QUERYABLE SORTABLE`"),
            ("o", true, "for fields of type LOCATION"),
            ("p", false, "distance from relativeLocation"), ("ls", false, "has no order"),
            ("a", false, "has no order"),
        ])
    func orders(_ field: String, _ hasPlace: Bool, _ reason: String) throws {
        var query = query(.equals, "q", .string("x"))
        query.sorts = [
            QuerySort(
                field: .field(FieldName(field)), ascending: true,
                relativeLocation: hasPlace ? Location(latitude: 0, longitude: 0) : nil)
        ]
        let error = try #require(try refusal(query))
        #expect(error.code == .badRequest)
        #expect(error.reason.contains(reason), "\(error.reason)")
    }

    @Test("references compare by zone where their zone is known")
    func referenceZones() throws {
        let bench = ContainerSchema(
            container: QueryBench.container, version: 1,
            document: try SchemaDocument(parsing: Array(QueryBench.schemaText.utf8)))
        func evaluator(_ zone: ZoneIdentifier?) throws -> QueryEvaluator {
            let value = WireValue.reference(WireReference(name: RecordName("r-1"), zone: zone))
            let filter = QueryFilter(
                comparator: .equals, field: .field(FieldName("r")),
                value: WireField(name: FieldName("r"), value: value, type: nil))
            return try QueryEvaluator(
                query: WireQuery(recordType: QueryBench.type, filters: [filter]), schema: bench)
        }
        var values = BenchValues(seed: 1)
        var record = values.records(1)[0]
        record.values["r"] = .reference(WireReference(name: RecordName("r-1")))
        let home = ZoneKey(
            database: DatabaseKey(container: QueryBench.container, owner: QueryBench.owner),
            zone: ZoneName("Work"))
        let (stored, fields) = (record.stored, record.fields)
        #expect(try evaluator(nil).matches(stored, fields: fields, zone: home))
        #expect(
            try evaluator(ZoneIdentifier(zone: ZoneName("Work"))).matches(
                stored, fields: fields, zone: home))
        #expect(
            try !evaluator(ZoneIdentifier(zone: ZoneName("Other"))).matches(
                stored, fields: fields, zone: home))
        #expect(
            try evaluator(ZoneIdentifier(zone: ZoneName("Other"))).matches(stored, fields: fields))
    }
}
