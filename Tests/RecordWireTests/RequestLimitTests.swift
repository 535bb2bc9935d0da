import RecordModel
import RecordWire
import Testing

@Suite("Limits of requests") struct RequestLimitTests {
    private static func many(_ key: String, _ count: Int, _ element: String) -> String {
        let elements = Array(repeating: element, count: count).joined(separator: ",")
        return #"{"\#(key)":[\#(elements)],"zoneID":{"zoneName":"Z"}}"#
    }

    @Test("201 items are LIMIT_EXCEEDED with the limit in the reason, 200 are read")
    func counts() throws {
        let lists: [(String, String, (JSONReader) throws -> Any)] = [
            ("operations", "{}", { try ModifyRequest($0) }),
            ("records", #"{"recordName":"n"}"#, { try LookupRequest($0) }),
            ("zones", #"{"zoneID":{}}"#, { try ZoneChangesRequest.list($0) }),
            ("zones", "{}", { try ZoneIdentifier.list($0) }),
            (
                "operations", #"{"operationType":"delete","zone":{"zoneID":{"zoneName":"Z"}}}"#,
                { try ZoneOperation.list($0) }
            ),
            ("shortGUIDs", #"{"value":"g"}"#, { try ShortGUIDRequest.list($0) }),
            ("tokens", #"{"recordType":"N","fieldName":"f"}"#, { try AssetUploadBody($0) }),
            ("assets", #"{"recordName":"n","fieldName":"f"}"#, { try RereferenceBody($0) }),
            ("lookupInfos", #"{"phoneNumber":"1"}"#, { try UserLookup.discoverList($0) }),
            ("users", #"{"phoneNumber":"1"}"#, { try UserLookup.legacyList($0) }),
            ("subscriptions", #"{"subscriptionID":"s"}"#, { try WireSubscription.lookupList($0) }),
            (
                "operations", #"{"operationType":"delete","subscription":{"subscriptionID":"s"}}"#,
                { try SubscriptionOperation.list($0) }
            ),
        ]
        for (key, element, read) in lists {
            _ = try read(try body(Self.many(key, 200, element)))
            _ = try read(try body(Self.many(key, 0, element)))
            let error = refusal { try read(try body(Self.many(key, 201, element))) }
            #expect(error?.code == .limitExceeded, "\(key)")
            #expect(error?.reason.contains("200") == true)
        }
    }

    @Test("the count is checked before any item is looked at")
    func countFirst() {
        let error = refusal { try ModifyRequest(try body(Self.many("operations", 201, "7"))) }
        #expect(error?.code == .limitExceeded)
    }

    @Test(
        "resultsLimit: 0, negative and what is no integer are BAD_REQUEST",
        arguments: ["0", "-1", "-9223372036854775808", "1.5", #""7""#, "true", "[]", "1e2"])
    func badResultsLimits(_ limit: String) {
        let query = #"{"query":{"recordType":"N"},"resultsLimit":\#(limit)}"#
        #expect(refusal { try QueryRequest(try body(query)) }?.code == .badRequest)
        let changes = #"{"resultsLimit":\#(limit)}"#
        #expect(refusal { try DatabaseChangesRequest(try body(changes)) }?.code == .badRequest)
        let zone = #"{"zones":[{"zoneID":{},"resultsLimit":\#(limit)}]}"#
        #expect(refusal { try ZoneChangesRequest.list(try body(zone)) }?.code == .badRequest)
    }

    @Test("resultsLimit above the ceiling is clamped, absent it is the default")
    func clamped() throws {
        func query(_ limit: String) throws -> Int {
            let json = #"{"query":{"recordType":"N"},"resultsLimit":\#(limit)}"#
            return try QueryRequest(try body(json)).resultsLimit
        }
        #expect(try query("null") == 200)
        #expect(try query("1") == 1)
        #expect(try query("200") == 200)
        #expect(try query("201") == 200)
        #expect(try query("9223372036854775807") == 200)
        func feed(_ limit: String) throws -> Int {
            try DatabaseChangesRequest(try body(#"{"resultsLimit":\#(limit)}"#)).resultsLimit
        }
        #expect(try feed("null") == 200)
        #expect(try feed("1999") == 1_999)
        #expect(try feed("9223372036854775807") == 2_000)
    }
}
