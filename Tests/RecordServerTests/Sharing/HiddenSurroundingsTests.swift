import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

/// What is around a shared hierarchy, and what participants must not learn of it.
@Suite("What is around a share", .everyTransport) struct HiddenSurroundingsTests {
    private typealias Scene = ShareScene

    /// `t-1` hangs below `vault`, which is not shared; `t-1` is shared with Bob as `s-1`.
    private func scene() async throws -> (ShareScene, Text) {
        let scene = try await ShareScene()
        try await scene.modifyAll([
            Scene.create("vault", "Topic"), Scene.create("pearl", "Note", parent: "vault"),
        ])
        try await scene.modifyAll([parent(of: "t-1", "vault")])
        let guid = try await scene.share([Scene.invite(.bob)])
        return (scene, guid)
    }

    private func parent(of name: String, _ parent: String?) -> JSONValue {
        let value: JSONValue = parent.map { ["recordName": JSONValue($0)] } ?? .null
        return Scene.operation(
            "forceUpdate",
            ["recordName": JSONValue(name), "recordType": "Topic", "parent": value])
    }

    private func text(_ value: JSONValue) -> String {
        String(decoding: value.serialized(), as: UTF8.self)
    }

    @Test("the parent of a root is not told to participants, in any answer")
    func hiddenParent() async throws {
        let (scene, guid) = try await scene()
        let root: JSONValue = [
            "shortGUIDs": [["value": .string(guid), "shouldFetchRootRecord": true]]
        ]
        let resolved = try await scene.server.call(.recordsResolve, .public, as: .bob, root).json
        #expect(resolved.at("results.0.rootRecord.recordName") == "t-1")
        var answers = [resolved]
        answers.append(try await scene.accept(guid, as: .bob))
        let looked = try await scene.lookup(["t-1", "n-1"], as: .bob)
        #expect(looked.at("0.parent") == .null)
        #expect(looked.at("1.parent.recordName") == "t-1")
        answers.append(looked)
        let feed = try await scene.feed(as: .bob)
        #expect(scene.names(feed) == ["s-1", "t-1", "n-1", "c-1"])
        answers.append(feed)
        let conflict = try await scene.modify(
            [Scene.operation("update", ["recordName": "t-1", "recordChangeTag": "0"])], as: .bob)
        #expect(conflict.at("0.serverRecord.recordName") == "t-1")
        answers.append(conflict)
        for answer in answers { #expect(!text(answer).contains("vault"), "\(text(answer))") }
        #expect(try await scene.lookup(["t-1"], as: .alice).at("0.parent.recordName") == "vault")
    }

    @Test("the text of a record whose parent is hidden is not told, for it may name the parent")
    func hiddenText() async throws {
        let (scene, guid) = try await scene()
        _ = try await scene.accept(guid, as: .bob)
        func text(_ name: String, _ type: String) -> JSONValue {
            Scene.operation(
                "forceUpdate",
                [
                    "recordName": JSONValue(name), "recordType": JSONValue(type),
                    "fileText": JSONValue("text of \(name)"),
                ])
        }
        try await scene.modifyAll([text("t-1", "Topic"), text("n-1", "Note")])
        func told(_ zone: JSONValue, _ scope: DatabaseScope, _ person: TestServer.Person)
            async throws -> [JSONValue?]
        {
            let answer = try await scene.server.call(
                .recordsLookup, scope, as: person,
                [
                    "zoneID": zone, "wantsFileText": true,
                    "records": [["recordName": "t-1"], ["recordName": "n-1"]],
                ])
            return answer.records.map { $0["fileText"] }
        }
        #expect(try await told(Scene.foreign, .shared, .bob) == [nil, "text of n-1"])
        #expect(try await told(Scene.zone, .private, .alice) == ["text of t-1", "text of n-1"])
    }

    @Test("whoever sees the whole zone sees what is above a record")
    func zoneShare() async throws {
        let scene = try await ShareScene()
        let guid = try await scene.share([Scene.invite(.bob)], root: nil)
        _ = try await scene.accept(guid, as: .bob)
        #expect(try await scene.lookup(["n-1"], as: .bob).at("0.parent.recordName") == "t-1")
    }

    @Test("a query by the parent does not find the root by its hidden parent")
    func queries() async throws {
        let (scene, guid) = try await scene()
        _ = try await scene.accept(guid, as: .bob)
        func found(_ type: String, below parent: String) async throws -> [JSONValue] {
            let reference: JSONValue = ["recordName": JSONValue(parent)]
            let answer = try await scene.server.call(
                .recordsQuery, .shared, as: .bob,
                [
                    "zoneID": Scene.foreign,
                    "query": [
                        "recordType": JSONValue(type),
                        "filterBy": [
                            [
                                "systemFieldName": "parent", "comparator": "EQUALS",
                                "fieldValue": ["value": reference, "type": "REFERENCE"],
                            ]
                        ],
                    ],
                ])
            #expect(answer.status == 200, "\(answer.text)")
            return answer.json["records"]?.array ?? []
        }
        #expect(try await found("Note", below: "t-1").count == 1)
        #expect(try await found("Topic", below: "vault").isEmpty)
    }

    @Test("a participant neither moves the root nor finds out what it hangs below")
    func parentOfRoot() async throws {
        let (scene, guid) = try await scene()
        _ = try await scene.accept(guid, as: .bob)
        var refusals: Set<String> = []
        for name in ["vault", "pearl", "nothing", "n-1"] {
            let item = try await scene.modify([parent(of: "t-1", name)], as: .bob).at("0")
            #expect(item.code == "ACCESS_DENIED", "\(name)")
            refusals.insert(item.at("reason").string?.string ?? "")
        }
        #expect(refusals.count == 1)
        // The root as it was told, without a parent.
        try await scene.modifyAll([parent(of: "t-1", nil)], as: .bob)
        #expect(try await scene.lookup(["t-1"], as: .alice).at("0.parent.recordName") == "vault")
    }

    @Test("no refused request tells a participant which names are taken outside of the share")
    func takenNames() async throws {
        let (scene, guid) = try await scene()
        _ = try await scene.accept(guid, as: .bob)
        try await scene.modifyAll([Scene.create("y-1", "Topic")])
        try await scene.share(root: "y-1", name: "s-2")
        let broken = Scene.operation("update", ["recordName": "t-1", "recordChangeTag": "0"])
        /// Operations that must be answered in the same way whether there is a record `name`.
        func probes(_ name: String, _ type: String) -> [[JSONValue]] {
            func make(_ extra: JSONValue) -> JSONValue {
                let record: [JSONMember] = [
                    JSONMember(key: "recordName", value: JSONValue(name)),
                    JSONMember(key: "recordType", value: "Note"),
                ]
                return Scene.operation(type, .object(record + (extra.object ?? [])))
            }
            let parent: JSONValue = ["recordName": "t-1"]
            let wrong: JSONValue = ["name": ["value": 1, "type": "INT64"]]
            let known = Scene.operation(
                "create", ["recordName": "pearl", "recordType": "Note", "parent": parent])
            return [
                [make([:])], [make(["parent": ["recordName": "vault"]])],
                [make(["parent": ["recordName": "nothing"]])],
                [make(["parent": parent, "fields": wrong])],
                [make(["parent": parent]), broken],
                // With a name that is known to be taken.
                [make(["parent": parent]), known], [known, make(["parent": parent])],
            ]
        }
        for type in ["create", "forceUpdate", "forceReplace"] {
            for taken in ["x-1", "y-1", "s-2"] {
                for (one, other) in zip(probes(taken, type), probes("nobody", type)) {
                    let refused = outcome(try await scene.modify(one, as: .bob))
                    #expect(refused == outcome(try await scene.modify(other, as: .bob)))
                    #expect(refused.allSatisfy { $0 != nil })
                }
            }
        }
        #expect(try await scene.lookup(["nobody"], as: .alice).at("0").code == "NOT_FOUND")
    }

    private func outcome(_ answer: JSONValue) -> [JSONValue?] {
        (answer.array ?? [answer]).map { item in
            guard let code = item["serverErrorCode"] else { return nil }
            return [code, item["reason"] ?? .null]
        }
    }

    @Test("a new record of a taken name is EXISTS once all else about it is right")
    func taken() async throws {
        let (scene, guid) = try await scene()
        _ = try await scene.accept(guid, as: .bob)
        let operations = ["x-1", "free"].map { Scene.create($0, "Note", parent: "t-1") }
        let atomic = try await scene.modify(operations + [Scene.edit("n-1", "n")], as: .bob)
        #expect(atomic.array?.map(\.code) == ["EXISTS", "EXISTS", "ATOMIC_ERROR"])
        let single = try await scene.modify(operations, as: .bob, atomic: false)
        #expect(single.array?.map(\.code) == ["EXISTS", nil])
        #expect(
            try await scene.lookup(["x-1"], as: .alice).at("0.fields.name.value")
                == "text of x-1")
    }
}
