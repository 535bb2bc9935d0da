import RecordModel
import RecordWire
import TestSupport
import Testing

@testable import RecordSync

@Suite("Answers to who asks for access") struct ShareEditTests {
    /// Carol and Dave ask; there is a link that nobody has used, and Erin is blocked.
    private func share() throws -> ShareAnswer {
        let text = """
            {"recordName":"s","recordType":"cloudkit.share","recordChangeTag":"1","fields":{},
             "publicPermission":"NONE","participants":[
               {"participantId":"o","type":"OWNER","userIdentity":{"userRecordName":"_a"}},
               {"participantId":"q","type":"USER","permission":"READ_ONLY","userIdentity":{}}],
             "requesters":[
               {"requesterInformation":{"userRecordName":"_c",
                 "lookupInfo":{"emailAddress":"carol@e.org"}}},
               {"requesterInformation":{"userRecordName":"_d",
                 "lookupInfo":{"emailAddress":"dave@e.org"}}}],
             "blocked":[{"blockedInformation":{"userRecordName":"_e"}}],
             "oneTimeStableUrlInfo":{"oneTimeLinks":[
               {"participantId":["q"],"sharingLink":"t","url":"https://h/share/t"}]}}
            """
        let json = try JSONParser.parse(Array(text.utf8))
        return try ShareAnswer(RecordAnswer(JSONReader(json)))
    }

    private func request(_ edit: ShareEdit) throws -> ShareDictionary {
        // As the daemon gets it.
        let edit = try ShareEdit(edit.json)
        let share = try share()
        var request = ShareDictionary()
        request.participants = try edit.participants(of: share)
        try edit.answerRequests(&request, share)
        return request
    }

    @Test(
        "who is approved is invited by the name at the server and the address, and the others stay")
    func approve() throws {
        var edit = ShareEdit()
        edit.approved = [ShareEdit.Member(address: "Carol@E.org", permission: .readWrite)]
        let request = try request(edit)
        #expect(request.participants?.map(\.participantID) == ["q", nil])
        let lookup = UserLookup(emailAddress: "Carol@E.org", userName: UserName("_c"))
        #expect(request.participants?.last?.lookup == lookup)
        #expect(request.participants?.last?.permission == .readWrite)
        #expect(request.requesters == nil && request.oneTimeLinks == nil)
    }

    @Test("who is denied goes from the requests, and is blocked when that is wanted")
    func deny() throws {
        var edit = ShareEdit()
        edit.denied = ["dave@e.org"]
        #expect(try request(edit).requesters == [UserLookup(userName: UserName("_c"))])
        #expect(try request(edit).blocked == nil)
        edit.blocksDenied = true
        #expect(
            try request(edit).blocked
                == [
                    UserLookup(userName: UserName("_e")),
                    UserLookup(emailAddress: "dave@e.org", userName: UserName("_d")),
                ])
        #expect(try request(edit).participants == nil)
    }

    @Test("a new link is one more: those that nobody has used stay")
    func link() throws {
        var edit = ShareEdit()
        edit.link = ShareEdit.NewLink(id: "new", permission: .readOnly)
        let request = try request(edit)
        #expect(request.oneTimeLinks == ["q", "new"])
        #expect(request.participants?.map(\.participantID) == ["q", "new"])
        edit.publicPermission = .readOnly
        let failed = #expect(throws: RecordError.self) { try self.request(edit) }
        #expect(failed?.code == .unsupported)
    }

    @Test("who does not ask can be neither let in nor denied")
    func strangers() throws {
        var edits = [ShareEdit(), ShareEdit()]
        edits[0].approved = [ShareEdit.Member(address: "x@e.org")]
        edits[1].denied = ["x@e.org"]
        for edit in edits {
            let failed = #expect(throws: RecordError.self) { try request(edit) }
            #expect(failed?.code == .notFound)
        }
    }
}
