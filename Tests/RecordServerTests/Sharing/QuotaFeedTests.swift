import RecordModel
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@testable import RecordServerCore
@testable import RecordServerHTTP

/// How much room there is, as changes/database tells those who ask.
@Suite("The room that feeds tell") struct QuotaFeedTests {
    private static let total: Int64 = 1_000_000

    private func scene(_ total: Int64 = Self.total) async throws -> ShareScene {
        try await ShareScene { $0.service.quotaBytes = total }
    }

    private func quotas(
        _ scene: ShareScene, _ scope: DatabaseScope, as person: TestServer.Person,
        _ asked: JSONValue = ["wantsQuota": true]
    ) async throws -> JSONValue? {
        try await scene.server.call(.changesDatabase, scope, as: person, asked).json["quotas"]
    }

    private func used(_ scene: ShareScene) async throws -> Int64 {
        let holder = QuotaHolder.user(try #require(TestServer.Person.alice.user))
        return try await scene.server.storage.read { reader throws(ServerError) in
            try reader.usedBytes(holder)
        }
    }

    @Test("owners are told what they may have and what is left, who asks for it and nobody else")
    func own() async throws {
        let scene = try await scene()
        let told = try #require(try await quotas(scene, .private, as: .alice))
        #expect(told.array?.count == 1)
        #expect(told.at("0.ownerRecordName") == .string(ShareScene.name(.alice)))
        #expect(told.at("0.totalBytes").int64 == Self.total)
        let used = try await used(scene)
        #expect(used > 0 && told.at("0.freeBytes").int64 == Self.total - used)
        #expect(try await quotas(scene, .private, as: .alice, [:]) == nil)
        // It does not come in a request only because a zone has changed.
        let token = try await scene.server.call(.changesDatabase, .private, as: .alice)
            .json.at("syncToken")
        let again = try await quotas(
            scene, .private, as: .alice, ["wantsQuota": true, "syncToken": token])
        #expect(again == told)
    }

    @Test("a quota that has become less than what is used leaves nothing, and none is not told")
    func less() async throws {
        let scene = try await scene()
        try await scene.server.changeUser(.alice) { $0.quotaBytes = 10 }
        let told = try #require(try await quotas(scene, .private, as: .alice))
        #expect(told.at("0.totalBytes").int64 == 10 && told.at("0.freeBytes").int64 == 0)
        try await scene.server.changeUser(.alice) { $0.quotaBytes = .max }
        #expect(try await quotas(scene, .private, as: .alice) == [])
    }

    @Test("who may write into a shared zone is told what its owner has left, in steps, and no more")
    func participant() async throws {
        let scene = try await scene()
        let guid = try await scene.share([ShareScene.invite(.bob)])
        #expect(try await quotas(scene, .shared, as: .bob) == [])
        _ = try await scene.accept(guid, as: .bob)
        let told = try #require(try await quotas(scene, .shared, as: .bob))
        #expect(told.array?.count == 1)
        #expect(told.at("0").object?.map(\.key) == ["ownerRecordName", "freeBytes"])
        #expect(told.at("0.ownerRecordName") == .string(ShareScene.name(.alice)))
        #expect(told.at("0.freeBytes").int64 == 917_504)
        // What the owner does elsewhere does not show at once.
        try await scene.modifyAll([ShareScene.create("y-1", "Note")])
        #expect(try await quotas(scene, .shared, as: .bob) == told)
        try await scene.server.changeUser(.alice) { $0.quotaBytes = 10 }
        #expect(
            try await quotas(scene, .shared, as: .bob)?.at("0.freeBytes").int64 == 0)
    }

    @Test("who may only read, or has come by a link for everybody, is told nothing of it")
    func others() async throws {
        let scene = try await scene()
        let guid = try await scene.share([
            ShareScene.invite(.bob, "READ_ONLY"), ShareScene.invite(.carol),
        ])
        for person in [TestServer.Person.bob, .carol] {
            _ = try await scene.accept(guid, as: person)
        }
        #expect(try await quotas(scene, .shared, as: .bob) == [])
        #expect(try await quotas(scene, .shared, as: .carol)?.array?.count == 1)
        let open = try await self.scene()
        let link = try await open.share(permission: "READ_WRITE")
        _ = try await open.accept(link, as: .bob)
        #expect(try await open.database(as: .bob).at("zones.0.zoneID.zoneName") == "Work")
        #expect(try await quotas(open, .shared, as: .bob) == [])
    }

    @Test("steps are never more than there is, a quarter less at most, and exact at the end")
    func steps() {
        for (bytes, step) in [
            (0, 0), (7, 7), (9, 8), (1_000_000, 917_504), (10 << 30, 10 << 30),
            ((10 << 30) - 1, 8 << 30), (Int64.max, 7 << 60),
        ] as [(Int64, Int64)] {
            #expect(DatabasePage.step(bytes) == step)
            #expect(step <= bytes && bytes - step <= bytes / 4)
        }
    }
}
