import RecordModel
import RecordWire
import TestSupport
import Testing

@testable import RecordServerCore

@Suite("Queries: every way of searching")
struct QueryPlannerTests {
    /// Which fields a comparator can be asked of, and with what kind of value.
    static func fields(of comparator: Comparator) -> [String] {
        switch comparator {
        case .equals, .notEquals: BenchValues.fieldNames
        case .lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals:
            ["s", "i", "d", "n", "t", "b", "r"]
        case .near: ["l"]
        case .containsAllTokens, .containsAnyTokens: ["s", "ls"]
        case .in, .notIn: ["s", "i", "d", "n", "t", "b", "l", "r"]
        case .listContains, .notListContains, .notListContainsAny, .listContainsAll,
            .notListContainsAll, .containsAny:
            ["ls", "li", "lr"]
        case .beginsWith, .notBeginsWith: ["s", "r"]
        case .listMemberBeginsWith, .notListMemberBeginsWith: ["ls", "lr"]
        }
    }

    static func filter(
        _ comparator: Comparator, _ field: String, _ values: inout BenchValues
    ) -> QueryFilter {
        let value: WireValue
        switch comparator {
        case .equals, .notEquals: value = values.value(field)
        case .in, .notIn, .notListContainsAny, .listContainsAll, .notListContainsAll, .containsAny:
            let count = values.pick([0, 1, 2, 3])
            value = .list((0..<count).map { _ in values.scalar(field) })
        case .beginsWith, .notBeginsWith, .listMemberBeginsWith, .notListMemberBeginsWith:
            value = .string(Text(values.pick(["", "a", "a%", "_", "r-", "r-1", "long long", "é"])))
        default: value = values.scalar(field)
        }
        return QueryFilter(
            comparator: comparator, field: .field(FieldName(field)),
            value: WireField(name: FieldName(field), value: value, type: nil),
            distance: comparator == .near ? values.pick([0, 1_000, 50_000, 600_000, 2e7]) : nil)
    }

    static func sorts(_ values: inout BenchValues) -> [QuerySort] {
        let fields: [QueryField] =
            ["s", "i", "d", "n", "t", "b", "r", "l"].map { .field(FieldName($0)) }
            + [
                .system(.recordName), .system(.createdTimestamp), .system(.modifiedTimestamp),
                .system(.createdUserRecordName), .system(.modifiedUserRecordName),
            ]
        return (0..<values.pick([0, 1, 1, 2, 3])).map { _ in
            let field = values.pick(fields)
            let isPlace = field == .field(FieldName("l"))
            return QuerySort(
                field: field, ascending: values.chance(2),
                relativeLocation: isPlace ? values.location() : nil)
        }
    }

    @Test(
        "a comparator finds what it says, whatever the order, the page size and the plan",
        arguments: Comparator.allCases)
    func comparators(_ comparator: Comparator) async throws {
        let seed = UInt64(Comparator.allCases.firstIndex(of: comparator) ?? 0) + 1
        var values = BenchValues(seed: seed)
        let bench = try await QueryBench()
        let records = values.records(70)
        try await bench.put(records)
        var found = 0
        for field in Self.fields(of: comparator) {
            for round in LongForm.isAskedFor ? [0, 1, 2, 3] : [0, 3] {
                var query = WireQuery(recordType: QueryBench.type)
                query.filters = [Self.filter(comparator, field, &values)]
                if round > 1 {
                    let other = values.pick(Comparator.allCases)
                    query.filters.append(
                        Self.filter(other, values.pick(Self.fields(of: other)), &values))
                }
                query.sorts = Self.sorts(&values)
                let expected = NaiveQuery(query: query).run(records)
                found += expected.count
                for (count, limits) in Self.pages(round) {
                    let answer = try await bench.all(query, count: count, limits: limits)
                    #expect(answer == expected, "\(query), pages of \(count)")
                }
            }
        }
        #expect(found > 0)
    }

    private static func pages(_ round: Int) -> [(Int, QueryLimits)] {
        switch round {
        case 0: [(1, .tiny), (200, QueryLimits())]
        case 1: [(3, .tiny), (1, QueryLimits())]
        case 2: [(200, .tiny), (3, QueryLimits())]
        default: [(3, .tiny), (200, QueryLimits())]
        }
    }

    @Test("system fields are found and sorted by", arguments: SystemField.allCases)
    func systemFields(_ field: SystemField) async throws {
        var values = BenchValues(seed: 99)
        let bench = try await QueryBench()
        let records = values.records(60)
        try await bench.put(records)
        let wanted: [WireValue] =
            switch field {
            case .createdTimestamp, .modifiedTimestamp:
                [0, 1_000, 1_500, 9_000].map { .timestamp(milliseconds: $0) }
            case .recordName: ["n1", "n15", "x"].map { Self.reference($0) }
            case .parent: ["r-1", "x", "y"].map { Self.reference($0) }
            case .createdUserRecordName, .modifiedUserRecordName:
                ["_u1", "_u9"].map { Self.reference($0) }
            case .share: ["none", "s1"].map { Self.reference($0) }
            }
        for value in wanted {
            for comparator in [Comparator.equals, .notEquals, .greaterThanOrEquals, .in] {
                let isRange = comparator == .greaterThanOrEquals
                if isRange, field == .parent || field == .share { continue }
                var query = WireQuery(recordType: QueryBench.type)
                query.filters = [
                    QueryFilter(
                        comparator: comparator, field: .system(field),
                        value: WireField(
                            name: FieldName("x"), value: comparator == .in ? .list([value]) : value,
                            type: nil))
                ]
                query.sorts = Self.sorts(&values)
                let expected = NaiveQuery(query: query).run(records)
                for limits in [QueryLimits(), .tiny] {
                    let answer = try await bench.all(query, count: 7, limits: limits)
                    #expect(answer == expected, "\(query)")
                }
            }
        }
    }

    private static func reference(_ name: String) -> WireValue {
        .reference(WireReference(name: RecordName(name)))
    }

    @Test("a participant's query finds what the accepted shares show, and no more")
    func participant() async throws {
        var values = BenchValues(seed: 31)
        let bench = try await QueryBench()
        let records = values.records(60)
        try await bench.put(records)
        let key = bench.access.zone.key
        for shares in [["s1"], ["s1", "s2"], ["other"]] {
            let names = shares.map { RecordName($0) }
            let row = SharedZoneRow(
                viewer: UserName("_viewer"), zone: key, incarnation: 1, shares: names)
            let view = ZoneAccess(
                zone: bench.access.zone, view: .participant(row, permissions: [:]), user: nil)
            var query = WireQuery(recordType: QueryBench.type)
            query.sorts = Self.sorts(&values)
            let visible = records.filter { $0.share.map(shares.contains) ?? false }
            for limits in [QueryLimits(), .tiny] {
                let answer = try await bench.all(query, count: 7, limits: limits, zones: [view])
                #expect(answer == NaiveQuery(query: query).run(visible), "\(query)")
            }
        }
    }

    @Test("records without a value are counted by the index that lacks them")
    func unindexed() async throws {
        var values = BenchValues(seed: 4)
        let bench = try await QueryBench()
        let records = values.records(20)
        try await bench.put(records)
        let missing = records.count { $0.values["s"] == nil }
        let zone = bench.access.zone.handle
        let counts = try await bench.storage.read { reader throws(ServerError) in
            [
                try reader.countUnindexed(zone, type: QueryBench.type, field: FieldName("s")),
                try reader.countUnindexed(zone, type: QueryBench.type, field: FieldName("none")),
                try reader.countUnindexed(
                    zone, type: RecordTypeName("None"), field: FieldName("s")),
            ]
        }
        #expect(counts == [Int64(missing), 20, 0])
        #expect(missing > 0)
    }

    @Test("null is asked for with EQUALS and NOT_EQUALS")
    func null() async throws {
        var values = BenchValues(seed: 5)
        let bench = try await QueryBench()
        let records = values.records(30)
        try await bench.put(records)
        for comparator in [Comparator.equals, .notEquals] {
            var query = WireQuery(recordType: QueryBench.type)
            query.filters = [
                QueryFilter(
                    comparator: comparator, field: .field(FieldName("s")),
                    value: WireField(name: FieldName("s"), value: nil, type: nil))
            ]
            let expected = NaiveQuery(query: query).run(records)
            #expect(try await bench.all(query, count: 4, limits: .tiny) == expected)
            #expect((1..<records.count).contains(expected.count))
        }
    }

    @Test("records with many words and elements are found by each of them")
    func manyWords() async throws {
        var values = BenchValues(seed: 3)
        var records = values.records(5)
        let words = (0..<IndexKey.maximumEntries + 1).map { "word\($0)" }
        records[2].values["s"] = .string(Text(words.joined(separator: " ")))
        records[2].values["ls"] = .list(words.map { .string(Text($0)) })
        let bench = try await QueryBench()
        try await bench.put(records)
        let filters: [(Comparator, String, WireValue)] = [
            (.containsAllTokens, "s", .string("WORD7 word200")),
            (.containsAnyTokens, "s", .string("nothing word256")),
            (.listContains, "ls", .string("word256")),
            (.listContainsAll, "ls", .list([.string("word1"), .string("word2")])),
            (.listMemberBeginsWith, "ls", .string("word25")),
        ]
        for (comparator, field, value) in filters {
            var query = WireQuery(recordType: QueryBench.type)
            query.filters = [
                QueryFilter(
                    comparator: comparator, field: .field(FieldName(field)),
                    value: WireField(name: FieldName(field), value: value, type: nil))
            ]
            for limits in [QueryLimits(), .tiny] {
                #expect(try await bench.all(query, count: 2, limits: limits) == ["n2"])
            }
        }
    }

    @Test("a query over several zones merges them in one order", arguments: [1, 3, 200])
    func severalZones(_ count: Int) async throws {
        var values = BenchValues(seed: 11)
        let first = try await QueryBench("A")
        let second = try await QueryBench("B", storage: first.storage)
        let empty = try await QueryBench("C", storage: first.storage)
        // The same names are in both.
        let (left, right) = (values.records(40), values.records(40))
        try await first.put(left)
        try await second.put(right)
        for _ in 0..<6 {
            var query = WireQuery(recordType: QueryBench.type)
            query.sorts = Self.sorts(&values)
            let naive = NaiveQuery(query: query)
            for limits in [QueryLimits(), .tiny] {
                let answer = try await first.all(
                    query, count: count, limits: limits,
                    zones: [first.access, second.access, empty.access])
                #expect(Set(answer).count == 80)
                #expect(answer.count == 80)
                for (zone, records) in [("A/", left), ("B/", right)] {
                    let part = answer.filter { $0.hasPrefix(zone) }.map { String($0.dropFirst(2)) }
                    #expect(part == naive.run(records), "\(query)")
                }
            }
        }
    }

    @Test("what stays is neither skipped nor repeated while others change", arguments: [1, 3])
    func changesBetweenPages(_ count: Int) async throws {
        for seed in 20..<24 as Range<UInt64> {
            var values = BenchValues(seed: seed)
            let bench = try await QueryBench()
            let staying = values.records(50)
            var leaving = values.records(50, prefix: "m")
            try await bench.put(staying + leaving)
            var query = WireQuery(recordType: QueryBench.type)
            query.sorts = Self.sorts(&values)
            let limits = values.chance(2) ? QueryLimits.tiny : QueryLimits()
            var seen: [String] = []
            var marker: QueryPosition?
            var fresh = 0
            repeat {
                let page = try await bench.page(
                    query, after: marker, count: count, limits: limits)
                seen += page.names.filter { $0.hasPrefix("n") }
                marker = page.next
                if let gone = leaving.popLast() { try await bench.remove(gone) }
                fresh += 1
                try await bench.put(values.records(1, prefix: "p\(fresh)-"))
            } while marker != nil && fresh < 2_000
            #expect(marker == nil)
            #expect(seen == NaiveQuery(query: query).run(staying), "\(query)")
        }
    }

    @Test("a page ends early when it has looked at enough, and says where to go on")
    func examined() async throws {
        var values = BenchValues(seed: 8)
        let bench = try await QueryBench()
        let records = values.records(300)
        try await bench.put(records)
        var query = WireQuery(recordType: QueryBench.type)
        query.filters = [
            QueryFilter(
                comparator: .notEquals, field: .field(FieldName("zz")),
                value: WireField(name: FieldName("zz"), value: .string("x"), type: nil))
        ]
        query.filters[0].field = .system(.recordName)
        query.filters[0].value.value = Self.reference("n0")
        query.filters.append(
            QueryFilter(
                comparator: .equals, field: .system(.modifiedUserRecordName),
                value: WireField(name: FieldName("x"), value: Self.reference("nobody"), type: nil)))
        let page = try await bench.page(query, after: nil, count: 200, limits: .tiny)
        #expect(page.names.isEmpty)
        #expect(page.next != nil)
        #expect(try await bench.all(query, count: 200, limits: .tiny) == [])
    }

    @Test("an order that no index has is refused over too many records, and not with a filter")
    func unordered() async throws {
        var values = BenchValues(seed: 9)
        let bench = try await QueryBench()
        try await bench.put(values.records(30))
        var limits = QueryLimits()
        limits.unordered = 20
        var query = WireQuery(recordType: QueryBench.type)
        query.sorts = [
            QuerySort(
                field: .field(FieldName("l")), ascending: true, relativeLocation: values.location())
        ]
        let error = await #expect(throws: ServerError.self) {
            try await bench.page(query, after: nil, count: 5, limits: limits)
        }
        #expect(error?.code == .limitExceeded)
        query.filters = [
            QueryFilter(
                comparator: .equals, field: .field(FieldName("i")),
                value: WireField(name: FieldName("i"), value: .int64(1), type: nil))
        ]
        _ = try await bench.page(query, after: nil, count: 5, limits: limits)
    }

    @Test("a page holds no more bytes than it may, but always a record")
    func pageBytes() async throws {
        var values = BenchValues(seed: 10)
        let bench = try await QueryBench()
        let records = values.records(10)
        try await bench.put(records)
        var limits = QueryLimits()
        limits.pageBytes = 1
        let query = WireQuery(recordType: QueryBench.type)
        let page = try await bench.page(query, after: nil, count: 5, limits: limits)
        #expect(page.names == ["n0"])
        #expect(
            try await bench.all(query, count: 5, limits: limits)
                == NaiveQuery(query: query).run(records))
    }
}
