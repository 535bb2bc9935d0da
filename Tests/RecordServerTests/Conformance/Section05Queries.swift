import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Conformance: queries", .serialized) struct ConformanceSection5Queries {
    private static let servers = ConformanceServers()

    @Test(arguments: TestServer.Transport.allCases, rows)
    func row(_ transport: TestServer.Transport, _ row: ConformanceRow) async throws {
        try await row.run(transport, Self.servers)
    }

    static let rows = ConformanceRows.of(comparators, filters, sorts, systemFields)

    @Test("every comparator of the protocol has a row")
    func complete() {
        let tested = Set(Self.comparatorTable.map(\.comparator))
        #expect(tested == Set(Comparator.allCases.map(\.rawValue)))
    }

    private static func strings(_ words: [String]) -> JSONValue {
        ["value": .array(words.map { JSONValue($0) }), "type": "STRING_LIST"]
    }

    /// Record `a` has 1, "alpha beta", [red, green]; `b` has 2, "beta gamma", [blue]; `c` has 3,
    /// "delta", [green, blue].
    private static func fill(_ s: ConformanceScene) async throws {
        let rows: [(String, Int64, String, [String], Int64)] = [
            ("a", 1, "alpha beta", ["red", "green"], 0), ("b", 2, "beta gamma", ["blue"], 1),
            ("c", 3, "delta", ["green", "blue"], 10),
        ]
        for (name, n, title, colors, latitude) in rows {
            let place: JSONValue = ["latitude": JSONValue(latitude), "longitude": 0]
            let made = try await s.modify(
                operation(
                    "create", s.name(name), type: s.type,
                    [
                        "n": number(n), "title": text(title), "colors": strings(colors),
                        "place": ["value": place, "type": "LOCATION"],
                    ]))
            #expect(made.results == ["saved"])
        }
    }

    private static let origin: JSONValue = [
        "value": ["latitude": 0, "longitude": 0], "type": "LOCATION",
    ]

    /// What each comparator finds of a, b and c.
    private static let comparatorTable:
        [(comparator: String, field: String, value: JSONValue, found: String)] = [
            ("EQUALS", "n", number(2), "b"), ("NOT_EQUALS", "n", number(2), "ac"),
            ("LESS_THAN", "n", number(2), "a"), ("LESS_THAN_OR_EQUALS", "n", number(2), "ab"),
            ("GREATER_THAN", "n", number(2), "c"),
            ("GREATER_THAN_OR_EQUALS", "n", number(2), "bc"), ("NEAR", "place", origin, "ab"),
            ("CONTAINS_ALL_TOKENS", "title", text("beta alpha"), "a"),
            ("CONTAINS_ANY_TOKENS", "title", text("alpha delta"), "ac"),
            ("IN", "title", strings(["delta", "x"]), "c"),
            ("NOT_IN", "title", strings(["delta", "x"]), "ab"),
            ("LIST_CONTAINS", "colors", text("green"), "ac"),
            ("NOT_LIST_CONTAINS", "colors", text("green"), "b"),
            ("CONTAINS_ANY", "colors", strings(["red", "blue"]), "abc"),
            ("NOT_LIST_CONTAINS_ANY", "colors", strings(["red", "x"]), "bc"),
            ("LIST_CONTAINS_ALL", "colors", strings(["green", "blue"]), "c"),
            ("NOT_LIST_CONTAINS_ALL", "colors", strings(["green", "blue"]), "ab"),
            ("BEGINS_WITH", "title", text("b"), "b"),
            ("NOT_BEGINS_WITH", "title", text("b"), "ac"),
            ("LIST_MEMBER_BEGINS_WITH", "colors", text("gr"), "ac"),
            ("NOT_LIST_MEMBER_BEGINS_WITH", "colors", text("gr"), "b"),
        ]

    private static func comparators(_ rows: inout ConformanceRows) {
        for (comparator, field, value, found) in comparatorTable {
            rows.row("\(comparator)") { s in
                try await fill(s)
                var filter: JSONValue = [
                    "comparator": JSONValue(comparator), "fieldName": JSONValue(field),
                    "fieldValue": value,
                ]
                if comparator == "NEAR" { filter = filter.with("distance", 200_000) }
                let answer = try await s.query(filter)
                #expect(answer.names.sorted() == found.map { s.name(String($0)) }, "\(answer.text)")
            }
        }
    }

    private static func filters(_ rows: inout ConformanceRows) {
        rows.row("recordType: required, and known") { s in
            let none = try await s.call(
                .recordsQuery, .private, ["zoneID": s.zoneID, "query": [:]])
            #expect(none.code == "BAD_REQUEST")
            let unknown = try await s.query()
            #expect(unknown.status == 404)
            #expect(unknown.code == "NOT_FOUND")
        }
        rows.row("filterBy: all filters hold together") { s in
            try await fill(s)
            func filter(_ comparator: String, _ n: Int64) -> JSONValue {
                [
                    "comparator": JSONValue(comparator), "fieldName": "n",
                    "fieldValue": number(n),
                ]
            }
            let both: JSONValue = [
                "recordType": JSONValue(s.type),
                "filterBy": [filter("GREATER_THAN", 1), filter("LESS_THAN", 3)],
            ]
            let answer = try await s.call(
                .recordsQuery, .private, ["zoneID": s.zoneID, "query": both])
            #expect(answer.names == [s.name("b")])
        }
        let broken: [(String, JSONValue)] = [
            ("comparator", ["fieldName": "n", "fieldValue": number(1)]),
            ("fieldName", ["comparator": "EQUALS", "fieldValue": number(1)]),
            ("fieldValue", ["comparator": "EQUALS", "fieldName": "n"]),
            (
                "distance",
                ["comparator": "NEAR", "fieldName": "place", "fieldValue": origin]
            ),
        ]
        for (key, filter) in broken {
            rows.row("\(key): required in a filter") { s in
                try await fill(s)
                let answer = try await s.query(filter)
                #expect(answer.code == "BAD_REQUEST")
                #expect(answer.at("reason").words.contains("filterBy[0]"))
            }
        }
        rows.row("comparator: an unknown one is refused") { s in
            try await fill(s)
            let answer = try await s.query([
                "comparator": "LIKE", "fieldName": "n", "fieldValue": number(1),
            ])
            #expect(answer.code == "BAD_REQUEST")
        }
    }

    private static func sorts(_ rows: inout ConformanceRows) {
        for (ascending, found) in [(nil, "abc"), (true, "abc"), (false, "cba")] as [(Bool?, String)]
        {
            rows.row("sortBy: ascending \(ascending.map { "\($0)" } ?? "by default")") { s in
                try await fill(s)
                var sort: JSONValue = ["fieldName": "n"]
                if let ascending { sort = sort.with("ascending", .bool(ascending)) }
                let answer = try await s.query(sort: sort)
                #expect(answer.names == found.map { s.name(String($0)) })
            }
        }
        rows.row("relativeLocation: by distance") { s in
            try await fill(s)
            let sort: JSONValue = [
                "fieldName": "place", "relativeLocation": ["latitude": 9, "longitude": 0],
            ]
            let answer = try await s.query(sort: sort)
            #expect(answer.names == ["c", "b", "a"].map(s.name), "\(answer.text)")
        }
        rows.row("a sort needs a field") { s in
            try await fill(s)
            #expect(try await s.query(sort: ["ascending": true]).code == "BAD_REQUEST")
        }
        rows.row("immediate: a query right after a create finds it") { s in
            for index in 0..<5 {
                try await s.modify(
                    operation("create", s.name("\(index)"), type: s.type, ["n": number(1)]))
                #expect(try await s.query().names.count == index + 1)
            }
        }
    }

    private static func systemFields(_ rows: inout ConformanceRows) {
        let alice = ConformanceScene.user(.alice)
        @Sendable func name(_ value: JSONValue) -> JSONValue {
            ["value": ["recordName": value], "type": "REFERENCE"]
        }
        let now: JSONValue = ["value": 1_800_000_000_000, "type": "TIMESTAMP"]
        let fields: [(String, String, @Sendable (ConformanceScene) -> JSONValue, String)] = [
            ("recordName", "___recordID", { name($0.json("b")) }, "b"),
            ("parent", "___parent", { name($0.json("a")) }, ""),
            ("share", "___share", { name($0.json("a")) }, ""),
            ("createdUserRecordName", "___createdBy", { _ in name(alice) }, "abc"),
            ("modifiedUserRecordName", "___modifiedBy", { _ in name(alice) }, "abc"),
            ("createdTimestamp", "___createTime", { _ in now }, "abc"),
            ("modifiedTimestamp", "___modTime", { _ in now }, "abc"),
        ]
        for (system, schema, value, found) in fields {
            for (key, spelled) in [("systemFieldName", system), ("fieldName", schema)] {
                rows.row("\(key) \(spelled)") { s in
                    try await fill(s)
                    let filter: JSONValue = [
                        "comparator": "EQUALS", "fieldValue": value(s),
                    ]
                    let answer = try await s.query(filter.with(key, JSONValue(spelled)))
                    #expect(
                        answer.names.sorted() == found.map { s.name(String($0)) },
                        "\(answer.text)")
                }
            }
        }
    }
}
