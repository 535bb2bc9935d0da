import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport
import Testing

/// Who shares a zone, as changes/database tells it those who ask.
@Suite struct OwnerIdentityTests {
    private func owner(
        _ scene: ShareScene, _ asked: JSONValue = ["wantsOwnerIdentity": true]
    ) async throws -> JSONValue? {
        let answer = try await scene.server.call(.changesDatabase, .shared, as: .bob, asked)
        return answer.json.at("zones.0")["ownerIdentity"]
    }

    @Test("who was invited is told the owner's address, and only when he asks")
    func invited() async throws {
        let scene = try await ShareScene()
        let guid = try await scene.share([ShareScene.invite(.bob)])
        _ = try await scene.accept(guid, as: .bob)
        let told = try #require(try await owner(scene))
        #expect(told.at("lookupInfo.emailAddress") == "alice@example.org")
        #expect(told["userRecordName"] == .string(ShareScene.name(.alice)))
        #expect(try await owner(scene, [:]) == nil)
    }

    @Test("who has come by a public link is told no address")
    func visitor() async throws {
        let scene = try await ShareScene()
        let guid = try await scene.share(permission: "READ_ONLY")
        _ = try await scene.accept(guid, as: .bob)
        let told = try #require(try await owner(scene))
        #expect(told["userRecordName"] == .string(ShareScene.name(.alice)))
        #expect(told["lookupInfo"] == nil)
    }
}
