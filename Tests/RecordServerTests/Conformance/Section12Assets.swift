import HTTPTypes
import RecordModel
import RecordServerCore
import RecordServerHTTP
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Conformance: assets", .serialized) struct ConformanceSection12 {
    private static let servers = ConformanceServers()

    @Test(arguments: TestServer.Transport.allCases, rows)
    func row(_ transport: TestServer.Transport, _ row: ConformanceRow) async throws {
        try await row.run(transport, Self.servers)
    }

    static let rows = ConformanceRows.of(tokens, upload, saving, rereference, download)

    /// Makes a record with an asset, and gives its value as a lookup has it.
    private static func save(_ s: ConformanceScene, _ name: String, _ bytes: [UInt8]) async throws
        -> JSONValue
    {
        let asset = try await ConformanceAsset.upload(s, s.name(name), bytes)
        let made = try await s.modify(
            create(s.name(name), type: s.type, ["photo": ConformanceAsset.field(asset)]))
        #expect(made.results == ["saved"], "\(made.text)")
        return try await s.record(s.name(name)).at("fields.photo.value")
    }

    private static func tokens(_ rows: inout ConformanceRows) {
        rows.row("assets/upload, step 1: recordName, fieldName and url for each token") { s in
            let answer = try await ConformanceAsset.token(s, s.name("a"))
            #expect(answer.status == 200)
            #expect(answer.at("tokens.0").keys == ["fieldName", "recordName", "url"])
            #expect(answer.at("tokens.0.recordName") == s.json("a"))
            #expect(answer.at("tokens.0.fieldName") == "photo")
        }
        rows.row("assets/upload, step 1: a record name is minted where absent") { s in
            let answer = try await s.call(
                .assetsUpload, .private,
                ["tokens": [["recordType": JSONValue(s.type), "fieldName": "photo"]]])
            #expect(answer.at("tokens.0.recordName").words.utf8.count == 36)
        }
        for key in ["recordType", "fieldName"] {
            rows.row("assets/upload, step 1: \(key) is required") { s in
                let other = key == "recordType" ? "fieldName" : "recordType"
                let answer = try await s.call(
                    .assetsUpload, .private,
                    ["tokens": [.object([JSONMember(key: Text(other), value: "photo")])]])
                #expect(answer.code == "BAD_REQUEST")
                #expect(answer.at("reason").words.contains("tokens[0]"))
            }
        }
    }

    private static func upload(_ rows: inout ConformanceRows) {
        for type in ["application/octet-stream", "application/x-www-form-urlencoded"] {
            rows.row("assets/upload, step 2: POST of raw bytes as \(type)") { s in
                let url = try await ConformanceAsset.token(s, s.name("a")).at("tokens.0.url")
                let answer = try await s.server.request(
                    .post, try AssetFixture.path(url.string ?? ""),
                    headers: [.contentType: type], body: [1, 2, 3])
                #expect(answer.status == 200)
                #expect(answer.at("singleFile.size") == 3)
            }
        }
        rows.row("assets/upload, step 2: an unknown URL is refused") { s in
            let answer = try await s.server.request(.post, "/assets/up/guess", body: [1])
            #expect(answer.status >= 400 && answer.status < 500)
        }
    }

    private static func saving(_ rows: inout ConformanceRows) {
        rows.row("assets/upload, step 3: the dictionary becomes the value of the field") { s in
            let value = try await save(s, "a", [1, 2, 3])
            #expect(value.at("size") == 3)
        }
        rows.row("assets/upload, step 3: BAD_REQUEST without receipt, and for another record") {
            s in
            let asset = try await ConformanceAsset.upload(s, s.name("a"), [1, 2, 3])
            let members = (asset.object ?? []).filter { $0.key.string != "receipt" }
            let bare = ConformanceAsset.field(.object(members))
            let without = try await s.modify(create(s.name("a"), type: s.type, ["photo": bare]))
            #expect(without.results == ["BAD_REQUEST"])
            let other = try await s.modify(
                create(s.name("b"), type: s.type, ["photo": ConformanceAsset.field(asset)]))
            #expect(other.results == ["BAD_REQUEST"])
        }
        rows.row("a list of assets: one token for each element") { s in
            let assets = [
                try await ConformanceAsset.upload(s, s.name("a"), [1]),
                try await ConformanceAsset.upload(s, s.name("a"), [2, 3]),
            ]
            let field: JSONValue = ["value": .array(assets), "type": "ASSETID_LIST"]
            let made = try await s.modify(create(s.name("a"), type: s.type, ["photo": field]))
            #expect(made.results == ["saved"], "\(made.text)")
            #expect(made.at("records.0.fields.photo.value.1.size") == 2)
        }
        rows.row("the same bytes have the same fileChecksum; echoed keys are verified") { s in
            let first = try await ConformanceAsset.upload(s, s.name("a"), [1, 2, 3])
            let second = try await ConformanceAsset.upload(s, s.name("b"), [1, 2, 3])
            #expect(first.at("fileChecksum") == second.at("fileChecksum"))
            for key in ["wrappingKey", "referenceChecksum"] {
                let members = (first.object ?? []).map {
                    $0.key.string == key ? JSONMember(key: $0.key, value: "AAAA") : $0
                }
                let field = ConformanceAsset.field(.object(members))
                let answer = try await s.modify(
                    create(s.name("a"), type: s.type, ["photo": field]))
                #expect(answer.results == ["BAD_REQUEST"], "\(key)")
            }
        }
    }

    private static func rereference(_ rows: inout ConformanceRows) {
        rows.row("rereference: a writable dictionary for another record") { s in
            _ = try await save(s, "a", [1, 2, 3])
            let answer = try await s.call(
                .assetsRereference, .private,
                [
                    "zoneID": s.zoneID,
                    "assets": [["recordName": s.json("a"), "fieldName": "photo"]],
                ])
            let asset = answer.at("assets.0")
            #expect(asset.at("receipt").string != nil, "\(answer.text)")
            let copy = try await s.modify(
                create(s.name("b"), type: s.type, ["photo": ConformanceAsset.field(asset)]))
            #expect(copy.results == ["saved"], "\(copy.text)")
            try await s.modify(delete(s.name("a")))
            let url = try await s.record(s.name("b")).at("fields.photo.value.downloadURL")
            let bytes = try await s.server.request(.get, try AssetFixture.path(url.string ?? ""))
            #expect(bytes.body == [1, 2, 3])
        }
        rows.row("rereference: an error for a field that has none") { s in
            let answer = try await s.call(
                .assetsRereference, .private,
                [
                    "zoneID": s.zoneID,
                    "assets": [["recordName": s.json("none"), "fieldName": "photo"]],
                ])
            #expect(answer.status == 200)
            #expect(answer.at("assets.0.serverErrorCode") == "NOT_FOUND")
        }
    }

    private static func download(_ rows: inout ConformanceRows) {
        rows.row("GET downloadURL without credentials, with ETag and Range") { s in
            let url = try await save(s, "a", [1, 2, 3, 4]).at("downloadURL").string
            let path = try AssetFixture.path(try #require(url))
            let whole = try await s.server.request(.get, path)
            #expect(whole.status == 200)
            #expect(whole.body == [1, 2, 3, 4])
            let tag = try #require(whole.headers[.eTag])
            let part = try await s.server.request(
                .get, path, headers: [.range: "bytes=1-2"])
            #expect(part.status == 206)
            #expect(part.body == [2, 3])
            let same = try await s.server.request(.get, path, headers: [.ifNoneMatch: tag])
            #expect(same.status == 304)
        }
        rows.row("downloadURL expires") { s in
            let server = try await s.own { $0.service.downloadURLSeconds = 60 }
            let own = ConformanceScene(server: server, number: s.number)
            try await server.makeZone(own.zone)
            let url = try await save(own, "a", [1]).at("downloadURL").string
            let path = try AssetFixture.path(try #require(url))
            server.clock.advance(.seconds(59))
            #expect(try await server.request(.get, path).status == 200)
            server.clock.advance(.seconds(2))
            #expect(try await server.request(.get, path).status >= 400)
        }
    }
}
