import HTTPTypes
import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Asset download") struct AssetDownloadTests {
    /// A server, an asset of alice's record `n-1`, and its URL's path.
    private func prepared(
        _ transport: TestServer.Transport = .router, _ bytes: [UInt8] = pattern(300_000)
    ) async throws -> (AssetFixture, WireAsset, String) {
        let fixture = try await AssetFixture(transport)
        let asset = try await fixture.upload(bytes)
        try await fixture.put([asset])
        return (fixture, asset, try await fixture.downloadPath(asset))
    }

    @Test(
        "the URL gives the bytes, with the headers that keep them harmless",
        arguments: TestServer.Transport.allCases)
    func whole(_ transport: TestServer.Transport) async throws {
        let (fixture, asset, path) = try await prepared(transport)
        #expect(path.hasSuffix("/${f}"))
        let answer = try await fixture.server.request(.get, path)
        #expect(answer.status == 200)
        #expect(answer.body == pattern(300_000))
        #expect(answer.headers[.contentLength] == "300000")
        #expect(answer.headers[.eTag] == "\"\(asset.fileChecksum)\"")
        #expect(answer.headers[.acceptRanges] == "bytes")
        #expect(answer.headers[.contentType] == "application/octet-stream")
        #expect(answer.headers[.contentDisposition] == "attachment; filename=\"photo\"")
        #expect(answer.headers[.xContentTypeOptions] == "nosniff")
        #expect(answer.headers[.contentSecurityPolicy] == "default-src 'none'; sandbox")
        #expect(answer.headers[.cacheControl] == "private, no-cache")
    }

    @Test(
        "any file name stands in for the placeholder, and none",
        arguments: ["/photo.jpg", "/a%20b", "/%24%7Bf%7D", ""])
    func names(_ name: String) async throws {
        let (fixture, _, path) = try await prepared()
        let other = path.replacing("/${f}", with: name)
        let answer = try await fixture.server.request(.get, other)
        #expect(answer.status == 200)
        #expect(answer.body.count == 300_000)
    }

    @Test(
        "a range gives its part, with status 206", arguments: TestServer.Transport.allCases,
        ["bytes=0-0", "bytes=131070-131073", "bytes=-10", "bytes=299999-"])
    func ranges(_ transport: TestServer.Transport, _ range: String) async throws {
        let (fixture, _, path) = try await prepared(transport)
        let answer = try await fixture.server.request(.get, path, headers: [.range: range])
        #expect(answer.status == 206)
        let expected: ClosedRange<Int> =
            switch range {
            case "bytes=0-0": 0...0
            case "bytes=-10": 299_990...299_999
            case "bytes=299999-": 299_999...299_999
            default: 131_070...131_073
            }
        #expect(answer.body == Array(pattern(300_000)[expected]))
        #expect(
            answer.headers[.contentRange]
                == "bytes \(expected.lowerBound)-\(expected.upperBound)/300000")
    }

    @Test("a range beyond the end is 416 and says the size")
    func beyond() async throws {
        let (fixture, _, path) = try await prepared()
        let answer = try await fixture.server.request(
            .get, path, headers: [.range: "bytes=300000-"])
        #expect(answer.status == 416)
        #expect(answer.headers[.contentRange] == "bytes */300000")
        #expect(answer.body == [])
    }

    @Test("several ranges at once give the whole file")
    func several() async throws {
        let (fixture, _, path) = try await prepared()
        let answer = try await fixture.server.request(
            .get, path, headers: [.range: "bytes=0-1,5-6"])
        #expect(answer.status == 200)
        #expect(answer.body.count == 300_000)
    }

    @Test("If-Range gives the part of the same content and the whole of another")
    func ifRange() async throws {
        let (fixture, asset, path) = try await prepared()
        let same = try await fixture.server.request(
            .get, path,
            headers: [.range: "bytes=0-1", .ifRange: "\"\(asset.fileChecksum)\""])
        #expect(same.status == 206)
        let other = try await fixture.server.request(
            .get, path, headers: [.range: "bytes=0-1", .ifRange: "\"AQ==\""])
        #expect(other.status == 200)
        #expect(other.body.count == 300_000)
    }

    @Test(
        "If-None-Match of what the client has is 304 without bytes",
        arguments: TestServer.Transport.allCases)
    func notModified(_ transport: TestServer.Transport) async throws {
        let (fixture, asset, path) = try await prepared(transport)
        let answer = try await fixture.server.request(
            .get, path, headers: [.ifNoneMatch: "\"\(asset.fileChecksum)\""])
        #expect(answer.status == 304)
        #expect(answer.body == [])
        #expect(answer.headers[.eTag] == "\"\(asset.fileChecksum)\"")
    }

    @Test("HEAD gives the headers of GET", arguments: TestServer.Transport.allCases)
    func head(_ transport: TestServer.Transport) async throws {
        let (fixture, asset, path) = try await prepared(transport)
        let answer = try await fixture.server.request(.head, path)
        #expect(answer.status == 200)
        #expect(answer.body == [])
        #expect(answer.headers[.contentLength] == "300000")
        #expect(answer.headers[.eTag] == "\"\(asset.fileChecksum)\"")
    }

    private func refusal(_ fixture: AssetFixture, _ path: String) async throws -> JSONValue {
        let answer = try await fixture.server.request(.get, path)
        #expect(answer.status == 404)
        #expect(answer.code == "NOT_FOUND")
        return answer.json["reason"] ?? .null
    }

    @Test("all refusals are the same: expired, forged, deleted, replaced, disabled")
    func refusals() async throws {
        let (fixture, asset, path) = try await prepared()
        var reasons: Set<JSONValue> = []
        var forged = Array(path.utf8)
        forged[20] = forged[20] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        reasons.insert(try await refusal(fixture, String(decoding: forged, as: UTF8.self)))
        reasons.insert(try await refusal(fixture, "/assets/down/guess/x"))
        let upload = try await fixture.uploadPath()
        reasons.insert(
            try await refusal(fixture, "/assets/down/\(upload.split(separator: "/")[2])/x"))
        let other = try await fixture.upload(pattern(9))
        reasons.insert(try await refusal(fixture, try await fixture.downloadPath(other)))
        reasons.insert(
            try await refusal(fixture, try await fixture.downloadPath(asset, record: "none")))
        fixture.server.clock.advance(.seconds(3600))
        #expect(try await fixture.server.request(.get, path).status == 200)
        fixture.server.clock.advance(.milliseconds(1))
        reasons.insert(try await refusal(fixture, path))
        fixture.server.clock.advance(.milliseconds(-1))
        try await fixture.put([other])
        reasons.insert(try await refusal(fixture, path))
        try await fixture.put([asset])
        #expect(try await fixture.server.request(.get, path).status == 200)
        try await fixture.server.changeUser(.alice) { $0.isDisabled = true }
        reasons.insert(try await refusal(fixture, path))
        #expect(reasons.count == 1)
    }

    @Test("a participant sees assets while the share is accepted, and no other ones")
    func participant() async throws {
        let (fixture, asset, _) = try await prepared()
        try await fixture.put([asset], share: "s")
        try await fixture.put([asset], record: "private")
        try await fixture.share("s", .readOnly)
        let zone = ZoneIdentifier(zone: ZoneName("Work"), owner: AssetFixture.alice)
        let path = try await fixture.downloadPath(asset, as: .bob, .shared, zone: zone)
        let other = try await fixture.downloadPath(
            asset, record: "private", as: .bob, .shared, zone: zone)
        #expect(try await fixture.server.request(.get, path).status == 200)
        #expect(try await fixture.server.request(.get, other).status == 404)
        try await fixture.put([asset])
        #expect(try await fixture.server.request(.get, path).status == 404)
        try await fixture.put([asset], share: "s")
        #expect(try await fixture.server.request(.get, path).status == 200)
        try await fixture.share("s", nil)
        #expect(try await fixture.server.request(.get, path).status == 404)
    }

    @Test("an asset that is replaced while it is read comes to its end as it was")
    func replaced() async throws {
        let (fixture, asset, path) = try await prepared(.socket, pattern(8 << 20))
        let port = fixture.server.port
        let connection = try await RawHTTP.run { try RawConnection(port: port) }
        let first = try await RawHTTP.run {
            try connection.send("GET \(path) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
            return try connection.readPiece() ?? []
        }
        try await fixture.put([])
        fixture.server.clock.advance(.seconds(48 * 3600))
        try await AssetSweeper(
            storage: fixture.server.storage, assets: fixture.service.assets,
            receiptSeconds: 60
        ).sweep(now: fixture.server.clock.now)
        #expect(try await fixture.row(asset) == nil)
        #expect(try await fixture.files == [])
        let bytes = try await RawHTTP.run { first + (try connection.readToEnd()) }
        let body = try #require(bytes.firstRange(of: [13, 10, 13, 10])).upperBound
        #expect(Array(bytes[body...]) == pattern(8 << 20))
    }

    @Test("many readers at once each get what they asked for")
    func concurrent() async throws {
        let (fixture, _, path) = try await prepared(.socket)
        let whole = pattern(300_000)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<40 {
                group.addTask {
                    let answer = try await fixture.server.request(
                        .get, path, headers: [.range: "bytes=\(index * 7000)-"])
                    return answer.body == Array(whole[(index * 7000)...])
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }
}
