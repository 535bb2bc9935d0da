import HTTPTypes
import RecordModel
import RecordServer
import RecordServerCore
import RecordServerHTTP
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Asset upload") struct AssetUploadTests {
    private func limited(_ transport: TestServer.Transport, _ bytes: Int64) async throws
        -> AssetFixture
    {
        try await AssetFixture(transport) { $0.service.assetBytes = bytes }
    }

    @Test(
        "bytes brought by POST or PUT give the five keys of a value",
        arguments: TestServer.Transport.allCases, [HTTPRequest.Method.post, .put])
    func brought(_ transport: TestServer.Transport, _ method: HTTPRequest.Method) async throws {
        let fixture = try await AssetFixture(transport)
        let bytes = pattern(200_000)
        let answer = try await fixture.server.request(
            method, try await fixture.uploadPath(), body: bytes)
        #expect(answer.status == 200)
        let file = try #require(answer.json["singleFile"])
        let keys = try #require(file.object).map(\.key.string).sorted()
        #expect(
            keys == ["fileChecksum", "receipt", "referenceChecksum", "size", "wrappingKey"])
        let digest = SHA256.hash(bytes).hex
        let checksum = try #require(file["fileChecksum"]?.string.flatMap { Base64.decode($0.utf8) })
        #expect(checksum[0] == 1)
        #expect(ContentHash(digest: Array(checksum[1...])).hex == String(digest.prefix(40)))
        #expect(file["size"]?.int64 == 200_000)
        #expect(try await fixture.files == [digest])
    }

    @Test("an asset of no bytes is one", arguments: TestServer.Transport.allCases)
    func empty(_ transport: TestServer.Transport) async throws {
        let fixture = try await AssetFixture(transport)
        let asset = try await fixture.upload([])
        #expect(asset.size == 0)
        try await fixture.put([asset])
        let answer = try await fixture.server.request(
            .get, try await fixture.downloadPath(asset))
        #expect(answer.status == 200)
        #expect(answer.body == [])
        #expect(answer.headers[.contentLength] == "0")
    }

    @Test(
        "the limit is kept to the byte", arguments: TestServer.Transport.allCases,
        [(999, 200), (1000, 200), (1001, 413)])
    func limit(_ transport: TestServer.Transport, _ size: (bytes: Int, status: Int)) async throws {
        let fixture = try await limited(transport, 1000)
        let answer = try await fixture.server.request(
            .post, try await fixture.uploadPath(), body: pattern(size.bytes))
        #expect(answer.status == size.status)
        #expect(answer.code == (size.status == 413 ? "LIMIT_EXCEEDED" : nil))
        #expect(try await fixture.files.count == (size.status == 413 ? 0 : 1))
    }

    @Test("a length over the limit is refused before the body is read")
    func announced() async throws {
        let fixture = try await limited(.socket, 1000)
        let (path, port) = (try await fixture.uploadPath(), fixture.server.port)
        let answer = try await RawHTTP.run {
            let connection = try RawConnection(port: port)
            try connection.send(
                "POST \(path) HTTP/1.1\r\nHost: h\r\nContent-Length: 1099511627776\r\n\r\n")
            return try connection.readAnswer()
        }
        #expect(answer?.status == 413)
        #expect(try await fixture.files == [])
    }

    @Test("a body without a length is stopped at the limit")
    func chunked() async throws {
        let fixture = try await limited(.socket, 100_000)
        let (path, port) = (try await fixture.uploadPath(), fixture.server.port)
        let answer = try await RawHTTP.run {
            let connection = try RawConnection(port: port)
            try connection.send(
                "POST \(path) HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n"
                    + "Connection: close\r\n\r\n")
            let chunk = Array("4000\r\n".utf8) + pattern(0x4000) + Array("\r\n".utf8)
            for _ in 0..<8 { try connection.send(chunk) }
            return try connection.readAnswer()
        }
        #expect(answer?.status == 413)
        #expect(try await fixture.files == [])
    }

    @Test("a body in chunks that ends as it should is taken")
    func wholeChunks() async throws {
        let fixture = try await AssetFixture(.socket)
        let (path, port) = (try await fixture.uploadPath(), fixture.server.port)
        let answer = try await RawHTTP.run {
            let connection = try RawConnection(port: port)
            try connection.send(
                "PUT \(path) HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n"
                    + "Connection: close\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
            return try connection.readAnswer()
        }
        #expect(answer?.status == 200)
        #expect(try await fixture.files == [SHA256.hash(Array("abcde".utf8)).hex])
    }

    enum End: CaseIterable { case reset, close, shutdown }

    @Test(
        "an upload that breaks off in the middle leaves nothing", arguments: End.allCases,
        [false, true])
    func broken(_ end: End, _ isChunked: Bool) async throws {
        let fixture = try await AssetFixture(.socket)
        let (path, port) = (try await fixture.uploadPath(), fixture.server.port)
        let connection = try await RawHTTP.run {
            let connection = try RawConnection(port: port)
            let length = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: 400000"
            try connection.send("POST \(path) HTTP/1.1\r\nHost: h\r\n\(length)\r\n\r\n")
            if isChunked { try connection.send("61a80\r\n") }
            try connection.send(pattern(200_000))
            return connection
        }
        try await fixture.waitForUnfinished()
        try await RawHTTP.run {
            switch end {
            case .reset: connection.reset()
            case .close: connection.close()
            case .shutdown:
                connection.finishSending()
                _ = try connection.readToEnd()
            }
        }
        #expect(try await fixture.files == [])
        let known = try await fixture.server.storage.read { (reader) throws(ServerError) in
            try reader.unreferencedAssets(before: .max, limit: 10)
        }
        #expect(known == [])
    }

    @Test("a chunked body that breaks off between two chunks is not taken for a whole one")
    func brokenBetweenChunks() async throws {
        let fixture = try await AssetFixture(.socket)
        let (path, port) = (try await fixture.uploadPath(), fixture.server.port)
        let rest = try await RawHTTP.run {
            let connection = try RawConnection(port: port)
            try connection.send(
                "POST \(path) HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
                    + "3\r\nabc\r\n")
            connection.finishSending()
            return String(decoding: try connection.readToEnd(), as: UTF8.self)
        }
        #expect(!rest.hasPrefix("HTTP/1.1 200"))
        #expect(try await fixture.files == [])
    }

    @Test("the URL is good for a quarter of an hour")
    func expiry() async throws {
        let fixture = try await AssetFixture()
        let path = try await fixture.uploadPath()
        fixture.server.clock.advance(.seconds(15 * 60))
        #expect(try await fixture.server.request(.post, path, body: [1]).status == 200)
        fixture.server.clock.advance(.milliseconds(1))
        let answer = try await fixture.server.request(.post, path, body: [2])
        #expect(answer.status == 404)
        #expect(try await fixture.files.count == 1)
    }

    @Test("a guessed or changed URL is refused as an expired one is")
    func guessed() async throws {
        let fixture = try await AssetFixture()
        let path = try await fixture.uploadPath()
        let download = try await fixture.downloadPath(WireAsset(fileChecksum: "AQ", size: 1))
        var paths = ["/assets/up/" + String(repeating: "A", count: 90), "/assets/up/x"]
        paths.append("/assets/up/" + download.split(separator: "/")[2])
        for index in stride(from: 11, to: path.utf8.count, by: 7) {
            var bytes = Array(path.utf8)
            bytes[index] = bytes[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            paths.append(String(decoding: bytes, as: UTF8.self))
        }
        fixture.server.clock.advance(.seconds(16 * 60))
        let expired = try await fixture.server.request(.post, path, body: [1])
        fixture.server.clock.advance(.seconds(-16 * 60))
        for path in paths {
            let answer = try await fixture.server.request(.post, path, body: [1])
            #expect(answer.status == 404)
            #expect(answer.json["reason"] == expired.json["reason"])
        }
        #expect(try await fixture.files == [])
    }

    @Test("who lost the right to write, or the account, cannot use the URL any more")
    func revoked() async throws {
        let fixture = try await AssetFixture()
        try await fixture.put([], share: "s")
        try await fixture.share("s", .readWrite)
        let zone: JSONValue = [
            "zoneName": "Work", "ownerRecordName": .string(Text("\(AssetFixture.alice)")),
        ]
        let path = try await fixture.uploadPath(as: .bob, .shared, zone: zone)
        #expect(try await fixture.server.request(.post, path, body: [1]).status == 200)
        try await fixture.share("s", .readOnly)
        #expect(try await fixture.server.request(.post, path, body: [2]).status == 403)
        try await fixture.share("s", nil)
        #expect(try await fixture.server.request(.post, path, body: [3]).status == 404)
        let own = try await fixture.uploadPath()
        try await fixture.server.changeUser(.alice) { $0.isDisabled = true }
        #expect(try await fixture.server.request(.post, own, body: [4]).status == 404)
        #expect(try await fixture.files.count == 1)
    }

    @Test("what does not fit into the owner's quota is refused before it is read")
    func quota() async throws {
        let fixture = try await AssetFixture()
        try await fixture.server.changeUser(.alice) { $0.quotaBytes = 1000 }
        let path = try await fixture.uploadPath()
        let answer = try await fixture.server.request(.post, path, body: pattern(1001))
        #expect(answer.status == 413)
        #expect(answer.code == "QUOTA_EXCEEDED")
        #expect(try await fixture.server.request(.post, path, body: pattern(900)).status == 200)
        #expect(try await fixture.files.count == 1)
    }

    @Test("uploads that no record refers to fit into the quota together", .everyTransport)
    func unsaved() async throws {
        let fixture = try await AssetFixture(TestServer.usualTransport)
        try await fixture.server.changeUser(.alice) { $0.quotaBytes = 1_000_000 }
        let path = try await fixture.uploadPath()
        func upload(_ seed: UInt64) async throws -> TestServer.Answer {
            try await fixture.server.request(.post, path, body: pattern(900_000, seed: seed))
        }
        // Side by side, and one after the other.
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for seed in 1...10 { group.addTask { try await upload(UInt64(seed)).status } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.count { $0 == 200 } <= 1)
        #expect(statuses.allSatisfy { $0 == 200 || $0 == 413 })
        if !statuses.contains(200) { #expect(try await upload(1).status == 200) }
        let refused = try await upload(11)
        #expect(refused.code == "QUOTA_EXCEEDED")
        #expect(try await fixture.files.count == 1)
        // Nothing was kept of what did not fit, so that there is room when the receipts have ended.
        fixture.server.clock.advance(.seconds(24 * 3600 + 1))
        await Maintenance(fixture.server.application).round()
        let later = try await fixture.uploadPath()
        let answer = try await fixture.server.request(
            .post, later, body: pattern(900_000, seed: 12))
        #expect(answer.status == 200, "\(answer.text)")
        // The same bytes again take no room.
        #expect(
            try await fixture.server.request(.post, later, body: pattern(900_000, seed: 12))
                .status == 200)
    }

    @Test("what records had is kept only where uploads fit beside it")
    func released() async throws {
        let fixture = try await AssetFixture()
        try await fixture.server.changeUser(.alice) { $0.quotaBytes = 10_000 }
        let old = try await fixture.upload(pattern(6_000))
        try await fixture.put([old])
        let hash = try #require(try await fixture.row(old)).sha256
        fixture.server.clock.advance(.seconds(48 * 3600))
        try await fixture.put([])
        await Maintenance(fixture.server.application).round()
        _ = try await fixture.upload(pattern(3_000, seed: 2))
        #expect(try await fixture.row(old) != nil)
        let path = try await fixture.uploadPath()
        let answer = try await fixture.server.request(
            .post, path, body: pattern(6_500, seed: 3))
        #expect(answer.status == 200, "\(answer.text)")
        #expect(try await fixture.row(old) == nil)
        #expect(try await !fixture.files.contains(hash.hex))
        #expect(try await fixture.files.count == 2)
    }

    @Test("tokens get a record name where they have none, and 200 of them are the limit")
    func tokens() async throws {
        let fixture = try await AssetFixture()
        let one: JSONValue = ["recordType": "Note", "fieldName": "photo"]
        let call = { (count: Int) async throws in
            try await fixture.server.call(
                .assetsUpload, .private, as: .alice,
                [
                    "zoneID": ["zoneName": "Work"],
                    "tokens": .array([JSONValue](repeating: one, count: count)),
                ])
        }
        let answer = try await call(200)
        let tokens = try #require(answer.json["tokens"]?.array)
        #expect(tokens.count == 200)
        #expect(Set(tokens.compactMap { $0["recordName"]?.string }).count == 200)
        #expect(Set(tokens.compactMap { $0["url"]?.string }).count == 200)
        #expect(tokens.allSatisfy { $0["fieldName"]?.string == "photo" })
        #expect(try await call(201).code == "LIMIT_EXCEEDED")
    }

    @Test("zones that are not there and not one's own get the same answer")
    func zones() async throws {
        let fixture = try await AssetFixture()
        let none = try await fixture.token(zone: ["zoneName": "None"])
        let foreign = try await fixture.token(
            as: .bob, .shared,
            zone: [
                "zoneName": "Work", "ownerRecordName": .string(Text("\(AssetFixture.alice)")),
            ])
        #expect(none["serverErrorCode"]?.string == "ZONE_NOT_FOUND")
        #expect(foreign["serverErrorCode"]?.string == "ZONE_NOT_FOUND")
        #expect(none["reason"] == foreign["reason"])
        let anonymous = try await fixture.server.call(
            .assetsUpload, .public, as: .anonymous,
            ["tokens": [["recordType": "Note", "fieldName": "photo"]]])
        #expect(anonymous.status == 421)
    }

    @Test("who may only read is told so for each token")
    func readOnly() async throws {
        let fixture = try await AssetFixture()
        try await fixture.put([], share: "s")
        try await fixture.share("s", .readOnly)
        let zone: JSONValue = [
            "zoneName": "Work", "ownerRecordName": .string(Text("\(AssetFixture.alice)")),
        ]
        for record in ["n-1", "new"] {
            let token = try await fixture.token(record, as: .bob, .shared, zone: zone)
            #expect(token["serverErrorCode"]?.string == "ACCESS_DENIED")
            #expect(token["url"] == nil)
            #expect(token["recordName"]?.string == Text(record))
        }
    }

    @Test("an upload URL has no other method than POST and PUT")
    func methods() async throws {
        let fixture = try await AssetFixture()
        let path = try await fixture.uploadPath()
        let answer = try await fixture.server.request(.get, path)
        #expect(answer.status == 405)
        #expect(answer.headers[.allow]?.contains("PUT") == true)
    }
}
