import HTTPTypes
import RecordModel
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@testable import RecordServerCore

/// URLs that are their own credential: they are worth what their user may do now.
@Suite("Access by URL") struct BearerAccessTests {
    private static let users = AccessRole.allCases.filter(\.isUser)

    private func place(_ zone: String = "Work", _ record: String = "n-1") throws -> AssetPlace {
        AssetPlace(
            zone: ZoneKey(
                database: DatabaseKey(
                    container: AccessScene.container, owner: TestServer.userName("a11ce")),
                zone: ZoneName(zone)),
            record: RecordName(record), field: FieldName("photo"))
    }

    private func expires(_ scene: AccessScene) -> Int64 {
        scene.server.clock.now.nanoseconds / 1_000_000 + 60_000
    }

    private func upload(_ scene: AccessScene, _ place: AssetPlace) async throws
        -> TestServer.Answer
    {
        let user = try #require(scene.person.user)
        let ticket = UploadTicket(
            place: place, type: RecordTypeName("Note"), user: user,
            expiresMilliseconds: expires(scene))
        let url = "/assets/up/" + ticket.sealed(by: scene.server.service.seal).string
        return try await scene.server.request(.post, url, body: Array("brought".utf8))
    }

    private func download(_ scene: AccessScene, _ place: AssetPlace) async throws
        -> TestServer.Answer
    {
        let checksum = try #require(
            try await scene.scene.lookup(["n-1"], as: .alice)
                .at("0.fields.photo.value.fileChecksum").string)
        let ticket = DownloadTicket(
            place: place, fileChecksum: checksum, viewer: scene.person.user,
            expiresMilliseconds: expires(scene))
        let url = "/assets/down/" + ticket.sealed(by: scene.server.service.seal).string
        return try await scene.server.request(.get, url)
    }

    private func text(_ answer: TestServer.Answer) -> String {
        answer.text.replacing(/"uuid":"[^"]*"/, with: "")
    }

    @Test("an upload URL brings bytes for those who may write now", arguments: users)
    func uploads(_ role: AccessRole) async throws {
        let scene = try await AccessScene(role)
        let before = try await scene.state()
        let answer = try await upload(scene, try place())
        switch role {
        case .owner, .writer, .joiner:
            #expect(answer.status == 200, "\(role): \(answer.text)")
        case .reader: #expect(answer.code == "ACCESS_DENIED", "\(role): \(answer.text)")
        default:
            #expect(answer.code == "ZONE_NOT_FOUND", "\(role): \(answer.text)")
            let twin = try await upload(scene, try place("Nowhere"))
            #expect(text(answer) == text(twin))
        }
        guard answer.status != 200 else { return }
        #expect(try await scene.state() == before, "\(role)")
    }

    @Test("a download URL shows bytes to those who may read now", arguments: AccessRole.allCases)
    func downloads(_ role: AccessRole) async throws {
        let scene = try await AccessScene(role)
        let answer = try await download(scene, try place())
        switch role {
        case .owner, .writer, .reader, .joiner:
            #expect(answer.status == 200 && answer.body == AccessScene.photo, "\(role)")
        default:
            #expect(answer.status == 404 && answer.code == "NOT_FOUND", "\(role): \(answer.text)")
            let twin = try await download(scene, try place("Nowhere"))
            #expect(text(answer) == text(twin), "\(role)")
        }
        // The same photo is in a record that is shared with nobody.
        let hidden = try await download(scene, try place("Work", "x-1"))
        #expect(hidden.status == (role == .owner ? 200 : 404), "\(role): \(hidden.text)")
        let forged = try await scene.server.request(.get, "/assets/down/AAAA")
        guard role != .owner else { return }
        #expect(text(hidden) == text(forged), "\(role)")
    }

    @Test("a courier brings what its user may see now, and no other courier", arguments: users)
    func couriers(_ role: AccessRole) async throws {
        let scene = try await AccessScene(role, withCourier: true)
        let path = try #require(scene.courier)
        try await scene.scene.modifyAll([
            ShareScene.edit("n-1", "changed"), ShareScene.edit("x-1", "changed"),
        ])
        await scene.server.waitUntilDelivered()
        var names: Set<String> = []
        while true {
            let answer = try await scene.server.request(.get, path)
            #expect(answer.status == 200, "\(role): \(answer.text)")
            guard !answer.body.isEmpty else { break }
            if let name = answer.json.at("ck.qry.rid").string?.string { names.insert(name) }
        }
        switch role {
        case .owner: #expect(names == ["n-1", "x-1"])
        case .writer, .reader, .joiner: #expect(names == ["n-1"], "\(role)")
        default: #expect(names.isEmpty, "\(role): \(names)")
        }
        let forged = try await scene.server.request(.get, String(path.dropLast()) + "_")
        #expect(forged.code == "NOT_FOUND", "\(role): \(forged.text)")
    }
}
