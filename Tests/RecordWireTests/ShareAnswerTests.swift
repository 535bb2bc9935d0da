import RecordModel
import RecordWire
import TestSupport
import Testing

@Suite("What a share says of access, as a client reads it") struct ShareAnswerTests {
    private func share(_ keys: String, fields: String = "") throws -> ShareAnswer {
        let text = """
            {"recordName":"s","recordType":"cloudkit.share","recordChangeTag":"1","fields":{\(fields)},
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

    @Test("title, type and thumbnail are read as fields of the share")
    func preview() throws {
        let share = try share(
            "\"participants\":[]",
            fields: """
                "cloudkit.title":{"value":"Box"},"cloudkit.type":{"value":"public.folder"},
                "cloudkit.thumbnailImageData":{"value":"AQID","type":"BYTES"}
                """)
        #expect(share.title == "Box" && share.type == "public.folder")
        #expect(share.thumbnail == [1, 2, 3])
    }

    @Test(
        "a thumbnail or type that is none of that keeps nobody from reading the share",
        arguments: [
            "", #""cloudkit.thumbnailImageData":{"value":"no base64!","type":"BYTES"}"#,
            #""cloudkit.thumbnailImageData":{"value":"text","type":"STRING"}"#,
            #""cloudkit.thumbnailImageData":{"value":{"fileChecksum":"AQ==","size":1},"type":"ASSETID"}"#,
            #""cloudkit.thumbnailImageData":{"value":1,"type":"PICTURE"}"#,
            #""cloudkit.thumbnailImageData":null,"cloudkit.type":{"value":7,"type":"INT64"}"#,
        ])
    func unreadablePreview(_ fields: String) throws {
        let title = #""cloudkit.title":{"value":"Box","type":"STRING"}"#
        let share = try share(
            "\"participants\":[]", fields: fields.isEmpty ? title : "\(title),\(fields)")
        #expect(share.title == "Box")
        #expect(share.thumbnail == nil && share.type == nil)
    }
}
