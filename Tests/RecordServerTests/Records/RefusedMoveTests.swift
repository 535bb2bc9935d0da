import RecordModel
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

/// Of a request that is not atomic, what one operation would have done is no reason to refuse another one
/// when it is refused itself.
@Suite("Operations beside one that is refused", .everyTransport) struct RefusedMoveTests {
    private let gone = "VALIDATING_REFERENCE_ERROR"

    /// Below `t-1` is `n-1` and below that `c-1`; `x-1` hangs on nothing. Bob may write below `t-1`, and
    /// only read below `r-1`.
    private func shared() async throws -> ShareScene {
        let scene = try await ShareScene()
        try await scene.modifyAll([ShareScene.create("r-1", "Topic")])
        for (root, name, permission) in [
            ("t-1", "s-1", "READ_WRITE"), ("r-1", "s-2", "READ_ONLY"),
        ] {
            let link = try await scene.share(
                [ShareScene.invite(.bob, permission)], root: root, name: name)
            _ = try await scene.accept(link, as: .bob)
        }
        return scene
    }

    private func move(
        _ name: String, _ type: String = "Note", below parent: String
    ) -> JSONValue {
        ShareScene.operation(
            "forceUpdate",
            [
                "recordName": JSONValue(name), "recordType": JSONValue(type),
                "parent": ["recordName": JSONValue(parent)],
            ])
    }

    private func codes(
        _ scene: ShareScene, _ operations: JSONValue..., as person: TestServer.Person
    ) async throws -> [String] {
        let records = try await scene.modify(operations, as: person, atomic: false)
        return (records.array ?? [records]).map { $0["serverErrorCode"]?.string?.string ?? "saved" }
    }

    @Test("a record is saved beside a move of its parent to where nobody may write")
    func editBelow() async throws {
        let scene = try await shared()
        let edit = ShareScene.edit("c-1", "new")
        #expect(
            try await codes(scene, edit, move("n-1", below: "r-1"), as: .bob)
                == ["saved", "ACCESS_DENIED"])
        #expect(
            try await codes(scene, move("n-1", below: "r-1"), edit, as: .bob)
                == ["ACCESS_DENIED", "saved"])
    }

    @Test("new records are made below a record whose move is refused, whatever their order")
    func newBelow() async throws {
        let scene = try await shared()
        let made = [
            ShareScene.create("e", "Note", parent: "d"),
            ShareScene.create("d", "Note", parent: "c-1"),
        ]
        #expect(
            try await codes(scene, made[0], made[1], move("n-1", below: "r-1"), as: .bob)
                == ["saved", "saved", "ACCESS_DENIED"])
    }

    @Test("a record goes below another one whose own move into another share is refused")
    func twoShares() async throws {
        let scene = try await shared()
        try await scene.modifyAll([ShareScene.create("y-1", "Topic", parent: "x-1")])
        _ = try await scene.share(root: "y-1", name: "s-3")
        // x-1 cannot come into the share of c-1: y-1 below it has its own.
        #expect(
            try await codes(
                scene, move("r-1", "Topic", below: "x-1"), move("x-1", below: "c-1"), as: .alice)
                == ["saved", "ALREADY_SHARED"])
    }

    private func server() async throws -> TestServer {
        let server = try await TestServer()
        try await server.makeZone("Z")
        return server
    }

    @Test("a child comes to a parent whose deletion is refused")
    func childOfKept() async throws {
        let server = try await server()
        try await server.modify("Z", create("a"), create("b", parent: "a"), create("c"))
        let answer = try await server.modify(
            "Z", atomic: false, force("c", parent: "a"), create("d", parent: "c"), delete("a"))
        #expect(answer.results == ["saved", "saved", gone])
    }

    @Test(
        "a reference is saved to a record whose deletion is refused",
        arguments: ["VALIDATE", "DELETE_SELF"])
    func referenceToKept(_ action: String) async throws {
        let server = try await server()
        try await server.modify("Z", create("a"), create("b", parent: "a"))
        let answer = try await server.modify(
            "Z", atomic: false, create("c", ["link": reference("a", action)]), delete("a"))
        #expect(answer.results == ["saved", gone])
    }

    @Test("a record goes below one that would have come below it, had that not been refused")
    func refusedCircle() async throws {
        let server = try await server()
        try await server.modify("Z", create("a"), create("b"))
        let answer = try await server.modify(
            "Z", atomic: false, force("a", parent: "b"),
            force("b", ["link": reference("nobody", "VALIDATE")], parent: "a"))
        #expect(answer.results == ["saved", gone])
    }
}
