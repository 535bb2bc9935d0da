import RecordModel
import RecordSync
import RecordWire
import Testing

/// What somebody writes to the file of a share.
@Suite struct ShareTextTests {
    private let shared: JSONValue = [
        "url": "http://h/share/0ab", "title": "Box", "publicPermission": "NONE",
        "permission": "READ_WRITE", "role": "OWNER", "owner": ["user": "_a"],
        "participants": [
            [
                "user": "_b", "name": "Bob", "address": "bob@h", "type": "USER",
                "permission": "READ_ONLY", "status": "ACCEPTED",
            ],
            ["address": "carol@h", "type": "USER", "permission": "READ_ONLY", "status": "INVITED"],
        ],
        "changeTag": "7",
    ]

    private func edit(_ text: String, isNew: Bool = false) throws(RecordError) -> ShareEdit? {
        try ShareText.edit(Array(text.utf8), since: isNew ? .none : .some(shared))
    }

    /// The text of the share with something else in place of a part.
    private func changed(_ part: String, _ other: String) throws -> String {
        let text = String(decoding: shared.serialized(), as: UTF8.self)
        try #require(text.contains(part))
        return text.replacing(part, with: other)
    }

    private func reason(_ text: String, isNew: Bool = false) -> String {
        do throws(RecordError) {
            return "no error: \(String(describing: try edit(text, isNew: isNew)))"
        } catch {
            return "\(error)"
        }
    }

    @Test("what is as it was changes nothing, whatever the text is like")
    func unchanged() throws {
        #expect(try ShareText.edit(shared.serialized(pretty: true), since: shared) == nil)
        #expect(try edit("{}") == nil)
        #expect(try edit(#"{"title": "Box"}"#) == nil)
    }

    @Test("a new share is what the text says; without a word nobody is invited")
    func new() throws {
        #expect(try edit("{}", isNew: true) == ShareEdit())
        var wanted = ShareEdit()
        wanted.title = "T"
        wanted.publicPermission = .readOnly
        wanted.members = [
            ShareEdit.Member(address: "dan@h", permission: .readWrite, isAdministrator: true)
        ]
        let text = """
            {"title": "T", "publicPermission": "READ_ONLY", "participants": [
              {"address": "dan@h", "permission": "READ_WRITE", "type": "ADMINISTRATOR"}]}
            """
        #expect(try edit(text, isNew: true) == wanted)
    }

    @Test("one member that is changed is the only edit")
    func edits() throws {
        var wanted = ShareEdit()
        wanted.members = [ShareEdit.Member(address: "_b", permission: .readWrite)]
        #expect(
            try edit(changed(#"READ_ONLY","status":"ACC"#, #"READ_WRITE","status":"ACC"#))
                == wanted)
        wanted.members = [ShareEdit.Member(address: "carol@h", isAdministrator: true)]
        #expect(
            try edit(
                changed(
                    #"h","type":"USER","permission":"READ_ONLY","status":"INV"#,
                    #"h","type":"ADMINISTRATOR","permission":"READ_ONLY","status":"INV"#)) == wanted
        )
        wanted = ShareEdit()
        wanted.title = "Cup"
        #expect(try edit(changed(#""Box""#, #""Cup""#)) == wanted)
        wanted = ShareEdit()
        wanted.publicPermission = .readWrite
        #expect(try edit(#"{"publicPermission": "READ_WRITE"}"#) == wanted)
    }

    @Test("who is not in the list goes, whoever spells an address otherwise stays")
    func people() throws {
        var wanted = ShareEdit()
        wanted.removed = ["_b", "carol@h"]
        #expect(try edit(#"{"participants": []}"#) == wanted)
        wanted.removed = ["carol@h"]
        wanted.members = [ShareEdit.Member(address: "dan@h")]
        #expect(
            try edit(#"{"participants": [{"address": "Bob@h"}, {"address": "dan@h"}]}"#) == wanted)
    }

    @Test(
        "what cannot be is refused in words",
        arguments: [
            ("[]", "an object"), ("{", "line 1"), (#"{"titel": "x"}"#, "\"titel\" is no member"),
            (#"{"title": 1}"#, "title is a string"),
            (#"{"publicPermission": "ALL"}"#, "READ_WRITE"),
            (#"{"participants": {}}"#, "an array"),
            (#"{"participants": ["bob@h"]}"#, "{\"address\""),
            (#"{"participants": [{"adress": "b@h"}]}"#, "\"adress\" is no member"),
            (#"{"participants": [{"address": "nobody"}]}"#, "an address"),
            (#"{"participants": [{"permission": "NONE"}]}"#, "an address"),
            (#"{"participants": [{"address": "b@h", "type": "OWNER"}]}"#, "ADMINISTRATOR"),
            (#"{"participants": [{"address": "b@h"}, {"address": "B@h"}]}"#, "twice"),
            (#"{"url": "http://h/share/other"}"#, "told by the server"),
            (#"{"owner": {"user": "_b"}}"#, "told by the server"),
            (#"{"title": "Cup", "changeTag": "6"}"#, "Read it again"),
        ])
    func refused(_ text: String, _ words: String) {
        #expect(reason(text).contains(words), "\(reason(text))")
    }

    @Test("the text of another share shares nothing")
    func copied() {
        let text = String(decoding: shared.serialized(), as: UTF8.self)
        #expect(reason(text, isNew: true).contains("another share"))
    }

    @Test("a text longer than any share is refused")
    func long() {
        let text = #"{"title": ""# + String(repeating: "x", count: ShareText.sizeMax) + #""}"#
        #expect(reason(text).contains("bytes"))
    }
}
