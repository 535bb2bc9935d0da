import RecordModel
import RecordWire
import Testing

@Suite("Error codes") struct ErrorCodeTests {
    @Test("every code has its HTTP status")
    func statuses() {
        let table: [ServerErrorCode: Int] = [
            .accessDenied: 403, .atomicError: 400, .authenticationFailed: 401,
            .authenticationRequired: 421, .badRequest: 400, .conflict: 409, .exists: 409,
            .internalError: 500, .notFound: 404, .quotaExceeded: 413, .throttled: 429,
            .tryAgainLater: 503, .validatingReferenceError: 412, .zoneNotFound: 404,
            .uniqueFieldError: 400, .changeTokenExpired: 400, .limitExceeded: 413,
            .alreadyShared: 400, .tooManyParticipants: 400,
        ]
        #expect(table.count == ServerErrorCode.allCases.count)
        for code in ServerErrorCode.allCases { #expect(code.httpStatus == table[code]) }
    }

    @Test(
        "JSON that cannot be read is named with its place, and not quoted at length",
        arguments: ["k", "\u{301}"])
    func invalidJSON(_ letter: String) throws {
        let long = String(repeating: letter, count: 5_000)
        let error = try #require(
            #expect(throws: RecordError.self) {
                try JSONParser.parse(Array(#"{"\#(long)":1,"\#(long)":2}"#.utf8))
            })
        let reason = ServerError(body: error).reason
        #expect(reason.contains("line 1"))
        #expect(reason.utf8.count < 500)
    }

    @Test("a whole request's error has uuid, code, reason and what helps")
    func bodies() {
        let throttled = ServerError(.throttled, "Too fast.", retryAfter: 30)
        #expect(
            text(throttled.body(requestID: "u")) == """
                {"uuid":"u","serverErrorCode":"THROTTLED","reason":"Too fast.","retryAfter":30,\
                "error_code":"THROTTLED","messageForDeveloper":"Too fast."}
                """)
        let signIn = ServerError(.authenticationRequired, "Who?", redirectURL: "https://s/in")
        #expect(
            text(signIn.body(requestID: "u")) == """
                {"uuid":"u","serverErrorCode":"AUTHENTICATION_REQUIRED","reason":"Who?",\
                "redirectURL":"https://s/in"}
                """)
    }

    @Test("an item's error names its record, zone, subscription or short GUID")
    func items() {
        let error = ServerError(
            .conflict, "Stale.", retryAfter: 3,
            serverRecord: JSONBytes(Array(#"{"recordName":"n"}"#.utf8)))
        #expect(
            printed(error.item(recordName: "n", requestID: "u")) == """
                {"recordName":"n","serverErrorCode":"CONFLICT","reason":"Stale.","uuid":"u",\
                "retryAfter":3,"serverRecord":{"recordName":"n"}}
                """)
        #expect(
            printed(error.item(recordName: nil, requestID: nil)).hasPrefix(#"{"serverErrorCode""#))
        let zone = ZoneIdentifier(zone: "Z", owner: "_o")
        let missing = ServerError(.zoneNotFound, "No.")
        #expect(
            printed(missing.item(zone: zone)) == """
                {"zoneID":\(printed(zone)),"serverErrorCode":"ZONE_NOT_FOUND","reason":"No."}
                """)
        #expect(printed(missing.item(subscriptionID: "s")).hasPrefix(#"{"subscriptionID":"s","#))
        #expect(
            printed(missing.item(shortGUID: "g")).hasPrefix(#"{"shortGUID":{"value":"g"},"#))
    }

    @Test("for clients of iCloud's hosts an item's error has only the keys that those know")
    func iCloudItems() {
        let error = ServerError(
            .conflict, "Stale.", retryAfter: 3, serverRecord: JSONBytes(Array("{}".utf8)))
        #expect(
            printed(error.item(recordName: "n", requestID: "u", dialect: .iCloud))
                == #"{"recordName":"n","serverErrorCode":"CONFLICT","reason":"Stale."}"#)
    }
}
