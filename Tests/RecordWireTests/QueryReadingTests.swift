import RecordModel
import RecordWire
import Testing

@Suite("Queries and feeds of requests") struct QueryReadingTests {
    @Test("every comparator is known", arguments: Comparator.allCases)
    func comparators(_ comparator: Comparator) throws {
        let json = """
            {"recordType":"N","filterBy":[{"comparator":"\(comparator.rawValue)","fieldName":"f",
              "distance":1,"fieldValue":{"value":{"latitude":1,"longitude":2}}}]}
            """
        #expect(try WireQuery(try body(json)).filters.first?.comparator == comparator)
    }

    @Test("the table of comparators is complete")
    func table() {
        let names = """
            EQUALS NOT_EQUALS LESS_THAN LESS_THAN_OR_EQUALS GREATER_THAN GREATER_THAN_OR_EQUALS \
            NEAR CONTAINS_ALL_TOKENS CONTAINS_ANY_TOKENS IN NOT_IN LIST_CONTAINS \
            NOT_LIST_CONTAINS NOT_LIST_CONTAINS_ANY LIST_CONTAINS_ALL NOT_LIST_CONTAINS_ALL \
            BEGINS_WITH NOT_BEGINS_WITH LIST_MEMBER_BEGINS_WITH NOT_LIST_MEMBER_BEGINS_WITH \
            CONTAINS_ANY
            """
        #expect(Comparator.allCases.map(\.rawValue) == names.split(separator: " ").map(String.init))
    }

    @Test("every system field is known by both its names", arguments: SystemField.allCases)
    func systemFields(_ field: SystemField) throws {
        for key in [
            #""systemFieldName":"\#(field.rawValue)""#, #""fieldName":"\#(field.schemaName)""#,
        ] {
            let json = #"{"recordType":"N","sortBy":[{\#(key)}]}"#
            let query = try WireQuery(try body(json))
            #expect(query.sorts == [QuerySort(field: .system(field))])
        }
    }

    @Test(
        "a query that is none is BAD_REQUEST",
        arguments: [
            "{}", #"{"recordType":"N","filterBy":[{}]}"#,
            #"{"recordType":"N","filterBy":[{"comparator":"LIKE","fieldName":"f","fieldValue":{"value":1}}]}"#,
            #"{"recordType":"N","filterBy":[{"comparator":"EQUALS","fieldName":"f"}]}"#,
            #"{"recordType":"N","filterBy":[{"comparator":"EQUALS","fieldValue":{"value":1}}]}"#,
            #"{"recordType":"N","filterBy":[{"comparator":"NEAR","fieldName":"f","fieldValue":{"value":1}}]}"#,
            #"{"recordType":"N","filterBy":[{"comparator":"NEAR","fieldName":"f","fieldValue":{"value":1},"distance":-1}]}"#,
            #"{"recordType":"N","filterBy":[{"comparator":"EQUALS","fieldName":"f","systemFieldName":"share","fieldValue":{"value":1}}]}"#,
            #"{"recordType":"N","filterBy":[{"comparator":"EQUALS","fieldName":"a' OR 1=1 --","fieldValue":{"value":1}}]}"#,
            #"{"recordType":"N","sortBy":[{"systemFieldName":"___modTime"}]}"#,
            #"{"recordType":"N","sortBy":[{}]}"#, #"{"recordType":"N'; --"}"#,
        ])
    func refused(_ json: String) {
        #expect(refusal { try WireQuery(try body(json)) }?.code == .badRequest)
    }

    @Test("more than 64 filters are refused before they are read")
    func manyFilters() {
        let filters = Array(repeating: "{}", count: 65).joined(separator: ",")
        let error = refusal {
            try WireQuery(try body(#"{"recordType":"N","filterBy":[\#(filters)]}"#))
        }
        #expect(error?.code == .limitExceeded)
    }

    @Test("a query that is printed is read back as it was")
    func roundTrip() throws {
        let query = try QueryRequest(try body(RequestSample.query.text)).query
        #expect(try WireQuery(try body(printed(query))) == query)
    }

    @Test("a subscription that is printed is read back as it was")
    func subscriptions() throws {
        let operations = try SubscriptionOperation.list(
            try body(RequestSample.subscriptionsModify.text))
        guard case .create(let subscription)? = operations.first else {
            throw ServerError(.internalError, "no create")
        }
        #expect(subscription.firesOn == [.create, .delete])
        #expect(subscription.firesOnce)
        #expect(!subscription.zoneWide)
        #expect(try WireSubscription(try body(printed(subscription))) == subscription)
        for kind in ["zone", "database"] {
            let json = #"{"subscriptionID":"s","subscriptionType":"\#(kind)"}"#
            let plain = try WireSubscription(try body(json))
            #expect(try WireSubscription(try body(printed(plain))) == plain)
        }
    }

    @Test(
        "a subscription without what its type needs is BAD_REQUEST",
        arguments: [
            #"{"subscriptionType":"zone"}"#, #"{"subscriptionID":"s"}"#,
            #"{"subscriptionID":"s","subscriptionType":"query"}"#,
            #"{"subscriptionID":"s","subscriptionType":"query","query":{"recordType":"N"}}"#,
            #"{"subscriptionID":"s","subscriptionType":"zone","firesOn":["write"]}"#,
            #"{"subscriptionID":"s","subscriptionType":"zone","notificationInfo":{"alertBody":1}}"#,
        ])
    func badSubscriptions(_ json: String) {
        #expect(refusal { try WireSubscription(try body(json)) }?.code == .badRequest)
    }

    @Test("keys at the top of changes/zone hold where a zone does not say otherwise")
    func zoneDefaults() throws {
        let requests = try ZoneChangesRequest.list(try body(RequestSample.zoneChanges.text))
        #expect(requests.count == 2)
        #expect(requests[0].projection == RecordProjection(desiredKeys: ["b"]))
        #expect(requests[0].desiredRecordTypes == ["Topic"])
        #expect(!requests[0].reverse)
        #expect(requests[0].resultsLimit == 3)
        #expect(requests[0].syncToken == "t")
        #expect(requests[1].zone == ZoneIdentifier(zone: "B"))
        #expect(
            requests[1].projection == RecordProjection(desiredKeys: ["a"], numbersAsStrings: true))
        #expect(requests[1].desiredRecordTypes == ["Note"])
        #expect(requests[1].reverse)
        #expect(requests[1].resultsLimit == 9)
        #expect(requests[1].syncToken == nil)
    }

    @Test("zones/changes takes the token under both names, but not two different ones")
    func metaSyncToken() throws {
        for key in ["syncToken", "metaSyncToken"] {
            let request = try DatabaseChangesRequest(try body(#"{"\#(key)":"t"}"#))
            #expect(request.syncToken == "t")
        }
        let both = #"{"syncToken":"t","metaSyncToken":"u"}"#
        #expect(refusal { try DatabaseChangesRequest(try body(both)) }?.code == .badRequest)
    }

    @Test("desiredKeys keep duplicates and order; null means all")
    func desiredKeys() throws {
        func keys(_ json: String) throws -> [FieldName]? {
            try RecordProjection(try body(#"{"desiredKeys":\#(json)}"#)).desiredKeys
        }
        #expect(try keys(#"["b","a","b","no such.key"]"#) == ["b", "a", "b", "no such.key"])
        #expect(try keys("[]") == [])
        #expect(try keys("null") == nil)
    }

    @Test("names of new zones do not begin with _, but deleting and the default zone are free")
    func zoneNames() throws {
        func operation(_ type: String, _ zone: String) throws -> [ZoneOperation] {
            let zone = #"{"zoneID":{"zoneName":"\#(zone)"}}"#
            return try ZoneOperation.list(
                try body(#"{"operations":[{"operationType":"\#(type)","zone":\#(zone)}]}"#))
        }
        _ = try operation("create", "Z")
        _ = try operation("create", "_defaultZone")
        _ = try operation("delete", "_old")
        #expect(refusal { try operation("create", "_new") }?.code == .badRequest)
    }
}
