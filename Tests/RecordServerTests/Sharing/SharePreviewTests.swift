import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

/// What a share has for those who have not accepted it: a thumbnail and a type.
@Suite struct SharePreviewTests {
    private func fields(_ thumbnail: [UInt8], type: String = "org.example.plan") -> JSONValue {
        [
            "cloudkit.thumbnailImageData": [
                "value": .string(Text(utf8: Base64.encode(thumbnail))), "type": "BYTES",
            ],
            "cloudkit.type": ["value": JSONValue(type), "type": "STRING"],
        ]
    }

    private func resolve(
        _ scene: ShareScene, _ guid: Text, as person: TestServer.Person
    ) async throws -> JSONValue {
        try await scene.server.call(
            .recordsResolve, .public, as: person, ["shortGUIDs": [["value": .string(guid)]]]
        ).json.at("results.0")
    }

    @Test("who is invited is told both before accepting, when accepting, and with the share")
    func told() async throws {
        let scene = try await ShareScene()
        let guid = try await scene.share([ShareScene.invite(.bob)])
        let fields = fields(SitePageTests.picture)
        let saved = try await scene.change(["fields": fields])
        #expect(saved["fields"]?["cloudkit.title"]?["value"] == "Plans")
        let preview = try await resolve(scene, guid, as: .bob)
        let accepted = try await scene.accept(guid, as: .bob)
        let fed = try await scene.feed(as: .bob)
        let share = fed["records"]?.array?.first { $0["recordName"] == "s-1" }
        for (answer, what) in [
            (saved["fields"], "modify"), (preview.at("share.fields"), "resolve"),
            (accepted.at("share.fields"), "accept"), (share?["fields"], "feed"),
            (try await scene.lookup(["s-1"], as: .bob).at("0.fields"), "lookup"),
        ] {
            for name in ["cloudkit.thumbnailImageData", "cloudkit.type"] {
                #expect(answer?[name] == fields[name], "\(what) \(name)")
            }
        }
        #expect(try await resolve(scene, guid, as: .carol).at("share.fields") == .null)
    }

    @Test("a thumbnail may be any bytes that a record has room for, and null takes it away")
    func bounds() async throws {
        let scene = try await ShareScene()
        _ = try await scene.share([ShareScene.invite(.bob)])
        let large = [UInt8](repeating: 7, count: 999_000)
        let saved = try await scene.change(["fields": fields(large)])
        #expect(saved["fields"]?["cloudkit.thumbnailImageData"] != nil, "\(saved)")
        let refused = try await scene.change(["fields": fields(large + large)])
        #expect(refused.code == "BAD_REQUEST" || refused.code == "LIMIT_EXCEEDED", "\(refused)")
        let gone = try await scene.change([
            "fields": [
                "cloudkit.thumbnailImageData": ["value": .null],
                "cloudkit.type": ["value": .null],
            ]
        ])
        #expect(gone["fields"]?.object?.map(\.key) == ["cloudkit.title"], "\(gone)")
    }
}
