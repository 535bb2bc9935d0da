import RecordModel
import RecordWire
import ServerTestSupport
import Testing

@testable import RecordSync

/// What somebody writes to the file of a share.
@Suite struct ShareTextTests {
    private let shared: JSONValue = [
        "url": "http://h/share/0ab", "title": "Box", "publicPermission": "NONE",
        "permission": "READ_WRITE", "role": "OWNER", "owner": ["user": "_a", "name": "A"],
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
        // As jq -S writes it.
        #expect(shared.withSortedMembers != shared)
        #expect(try ShareText.edit(shared.withSortedMembers.serialized(), since: shared) == nil)
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
            (#"{"url": "http://h/share/other"}"#, "set by the server"),
            (#"{"owner": {"user": "_b"}}"#, "set by the server"),
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

    // MARK: Type and thumbnail

    private static let picture: [UInt8] = Array("GIF89a".utf8) + [1, 2, 3]

    /// The text of a share that has both.
    private func pictured() -> JSONValue {
        .object(
            (shared.object ?? []) + [
                JSONMember(key: "type", value: "public.folder"),
                JSONMember(
                    key: "thumbnail", value: ShareThumbnail.description(of: Self.picture)),
            ])
    }

    private func bytes(_ bytes: [UInt8]) -> JSONValue {
        ["$bytes": .string(Text(utf8: Base64.encode(bytes)))]
    }

    private func edit(_ json: JSONValue, since current: JSONValue?) throws(RecordError)
        -> ShareEdit?
    {
        try ShareText.edit(json.serialized(), since: current)
    }

    @Test("a type and a thumbnail are given by the text, changed, and taken away by null")
    func preview() throws {
        var wanted = ShareEdit()
        wanted.type = .value("public.folder")
        wanted.thumbnail = .value(try ShareThumbnail(Self.picture))
        let text: JSONValue = ["type": "public.folder", "thumbnail": bytes(Self.picture)]
        #expect(try edit(text, since: nil) == wanted)
        #expect(try edit(text, since: shared) == wanted)
        wanted.type = .removal
        wanted.thumbnail = .removal
        #expect(try edit(["type": .null, "thumbnail": .null], since: pictured()) == wanted)
        #expect(try edit(["type": .null, "thumbnail": .null], since: shared) == nil)
        // As the daemon gets it from a command.
        #expect(try ShareEdit(wanted.json) == wanted)
        wanted.thumbnail = .value(try ShareThumbnail(Self.picture))
        #expect(try ShareEdit(wanted.json) == wanted)
        #expect(try ShareEdit(ShareEdit().json) == ShareEdit())
    }

    @Test("what the file says of the thumbnail leaves it, and so do the same bytes")
    func sameThumbnail() throws {
        let current = pictured()
        #expect(try edit(current, since: current) == nil)
        #expect(try edit(["title": "Box"], since: current) == nil)
        #expect(try edit(["thumbnail": bytes(Self.picture)], since: current) == nil)
        // Some programs write members in another order, or without those that they do not know.
        let hash = current.at("thumbnail.sha256")
        #expect(try edit(["thumbnail": ["sha256": hash, "size": 9]], since: current) == nil)
        #expect(current.at("thumbnail.type") == "image/gif" && current.at("thumbnail.size") == 9)
        #expect(ShareThumbnail.description(of: [1])["type"] == nil)
    }

    @Test("what is no picture, too large, or that of another share is refused in words")
    func badPreview() {
        let large = Self.picture + [UInt8](repeating: 0, count: ShareThumbnail.bytesMax)
        let svg = Array("<svg xmlns=\"http://www.w3.org/2000/svg\"/>".utf8)
        let refused: [(JSONValue, String)] = [
            (["thumbnail": bytes(svg)], "PNG, JPEG, WebP or GIF"),
            (["thumbnail": bytes([])], "PNG, JPEG, WebP or GIF"),
            (["thumbnail": bytes(large)], "at most 256 KiB"),
            (["thumbnail": ["$bytes": "x"]], "base64"), (["thumbnail": "x.png"], "base64"),
            (["thumbnail": ["$bytes": "", "size": 1]], "base64"),
            (["thumbnail": ["sha256": "00", "size": 1]], "of another share"),
            (["type": ""], "1 to 255 bytes"), (["type": 1], "type is a string"),
            (["type": JSONValue(String(repeating: "x", count: 256))], "1 to 255 bytes"),
        ]
        for (json, words) in refused {
            for current in [pictured(), shared, nil] {
                let failed = #expect(throws: RecordError.self) {
                    try edit(json, since: current)
                }
                #expect(failed?.message.contains(words) == true, "\(String(describing: failed))")
            }
        }
    }
}
