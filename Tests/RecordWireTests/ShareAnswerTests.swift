import RecordModel
import RecordWire
import TestSupport
import Testing

@Suite("What a share says of access, as a client reads it") struct ShareAnswerTests {
    private func share(_ keys: String) throws -> ShareAnswer {
        let text = """
            {"recordName":"s","recordType":"cloudkit.share","recordChangeTag":"1","fields":{},
             "publicPermission":"NONE",\(keys)}
            """
        let json = try JSONParser.parse(Array(text.utf8))
        return try ShareAnswer(RecordAnswer(JSONReader(json)))
    }

    @Test("since when, who asks, who is blocked, and the links that nobody has used")
    func access() throws {
        let share = try share(
            """
            "participants":[{"participantId":"p","userIdentity":{},"type":"USER",
              "invitedAt":1770000000000,"acceptedAt":1770000000001},{"participantId":"q"}],
            "denyAccessRequests":false,
            "requesters":[{"requesterInformation":{"userRecordName":"_c",
              "lookupInfo":{"emailAddress":"c@e.org"}},"requestedAt":5}],
            "blocked":[{"blockedInformation":{"lookupInfo":{"phoneNumber":"+1"}}}],
            "oneTimeStableUrlInfo":{"oneTimeLinks":[
              {"participantId":["q"],"sharingLink":"t","url":"https://h/share/t"},
              {"participantId":["r"],"sharingLink":"u"}]}
            """)
        #expect(share.participants[0].invitedMilliseconds == 1_770_000_000_000)
        #expect(share.participants[0].acceptedMilliseconds == 1_770_000_000_001)
        #expect(share.participants[1].invitedMilliseconds == nil)
        #expect(share.deniesAccessRequests == false)
        #expect(share.requesters.map(\.user) == [UserName("_c")])
        #expect(share.requesters.first?.emailAddress == "c@e.org")
        #expect(share.requesters.first?.invitedMilliseconds == 5)
        #expect(share.blocked.map(\.phoneNumber) == ["+1"])
        #expect(share.links.map(\.participantID) == ["q"])
        #expect(share.links.map(\.url) == ["https://h/share/t"])
    }

    @Test("a server that tells none of it is read as well")
    func absent() throws {
        let share = try share("\"participants\":[]")
        #expect(share.requesters.isEmpty && share.blocked.isEmpty && share.links.isEmpty)
        #expect(share.deniesAccessRequests == nil)
    }
}
