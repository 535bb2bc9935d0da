import Foundation
import HTTPTypes
import RecordModel
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@testable import RecordServerCore

@Suite("Answers in gzip") struct GzipTests {
    /// What the gzip program makes of it.
    private func unpacked(_ file: [UInt8]) async throws -> [UInt8] {
        let directory = try TemporaryDirectory()
        try Data(file).write(to: URL(fileURLWithPath: directory.path + "/a.gz"))
        let gzip = try ServerProcess(program: "/bin/gzip", ["-d", directory.path + "/a.gz"])
        #expect(try await gzip.wait() == 0, "\(gzip.errorText)")
        return Array(try Data(contentsOf: URL(fileURLWithPath: directory.path + "/a")))
    }

    struct Sample: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]

        init(_ name: String, _ bytes: [UInt8]) {
            testDescription = name
            self.bytes = bytes
        }
    }

    private static let samples: [Sample] = [
        Sample("nothing", []), Sample("one byte", [7]), Sample("short", Array("abc".utf8)),
        Sample("repeated", Array("abcabcabcabcabcabcabcabc".utf8)),
        Sample("zeros", [UInt8](repeating: 0, count: 100_000)),
        Sample("longest matches", [UInt8](repeating: 255, count: 257 + 258 * 3)),
        Sample("random", pattern(70_000)),
        Sample("beyond the window", pattern(33_000, seed: 2) + pattern(33_000, seed: 2)),
        Sample("end of the window", pattern(32_768, seed: 3) + pattern(32_768, seed: 3)),
        Sample("every literal", (0...255).map { UInt8($0) }),
        Sample(
            "every length",
            (1..<600).flatMap { pattern($0 % 300, seed: 4) + [UInt8(truncatingIfNeeded: $0)] }),
    ]

    @Test("what is packed is unpacked to the same bytes by gzip", arguments: samples)
    func roundTrip(_ sample: Sample) async throws {
        #expect(try await unpacked(Gzip.compress(sample.bytes)) == sample.bytes)
    }

    @Test("JSON of many records becomes less than a quarter")
    func ratio() {
        let records = (0..<500).map { number -> JSONValue in
            [
                "recordName": JSONValue("note-\(number)"), "recordType": "Note",
                "fields": ["title": text("Title of \(number)"), "n": ["value": 1]],
                "pluginFields": [:], "deleted": false,
                "zoneID": ["zoneName": "Work", "ownerRecordName": "_0123456789abcdef"],
            ]
        }
        let bytes = JSONValue.array(records).serialized()
        #expect(Gzip.compress(bytes).count * 4 < bytes.count)
    }

    @Test(
        "an answer is packed when the client asks for it",
        arguments: TestServer.Transport.allCases,
        ["gzip", "deflate, GZIP;q=0.5, br", "*", "x-gzip"])
    func asked(_ transport: TestServer.Transport, _ header: String) async throws {
        let server = try await large(transport)
        let target = try await server.target(.recordsChanges)
        let body: JSONValue = ["zoneID": TestServer.zone("Z")]
        let plain = try await server.request(.post, target, body: body.serialized())
        #expect(plain.headers[.contentEncoding] == nil)
        #expect(plain.headers[.vary] == "Accept-Encoding")
        let packed = try await server.request(
            .post, target, headers: [.acceptEncoding: header], body: body.serialized())
        #expect(packed.status == 200)
        #expect(packed.headers[.contentEncoding] == "gzip")
        #expect(packed.headers[.contentType] == "application/json; charset=utf-8")
        #expect(packed.body.count < plain.body.count / 2)
        #expect(try await unpacked(packed.body) == plain.body)
    }

    @Test(
        "without asking, with weight 0, and when it is short an answer is plain",
        arguments: ["", "identity", "br", "gzip;q=0", "*;q=0", "gzip;q=0, *", "gzip; q=0.000"])
    func notAsked(_ header: String) async throws {
        let server = try await large(.router)
        let answer = try await server.request(
            .post, try await server.target(.recordsChanges), headers: [.acceptEncoding: header],
            body: (["zoneID": TestServer.zone("Z")] as JSONValue).serialized())
        #expect(answer.headers[.contentEncoding] == nil)
        #expect(answer.json.at("records").count == 20)
        let short = try await server.request(
            .post, try await server.target(.usersCaller, .public),
            headers: [.acceptEncoding: "gzip"])
        #expect(short.headers[.contentEncoding] == nil)
        #expect(short.status == 200)
    }

    private func large(_ transport: TestServer.Transport) async throws -> TestServer {
        let server = try await TestServer(transport)
        try await server.makeZone("Z")
        let body: JSONValue = [
            "zoneID": TestServer.zone("Z"),
            "operations": .array(
                (0..<20).map { create("n-\($0)", ["s": text("number \($0)")]) }),
        ]
        let made = try await server.call(.recordsModify, .private, body)
        #expect(made.results.count == 20)
        return server
    }

    @Test("what gzip makes of bytes, the server reads", arguments: ["-1", "-6", "-9"])
    func read(level: String) async throws {
        let text = (0..<4_000).map { "{\"value\":\($0 * 7_919 % 1_000)}" }.joined(separator: ",")
        let directory = try TemporaryDirectory()
        for bytes in [[], Array("x".utf8), Array(text.utf8), [UInt8](repeating: 7, count: 100_000)]
        {
            let path = directory.path + "/\(level)\(bytes.count)"
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            let gzip = try ServerProcess(program: "/bin/gzip", [level, path])
            #expect(try await gzip.wait() == 0, "\(gzip.errorText)")
            let file = Array(try Data(contentsOf: URL(fileURLWithPath: path + ".gz")))
            #expect(try Gunzip.decompress(file, maximumBytes: bytes.count) == bytes)
            #expect(try Gunzip.decompress(Gzip.compress(bytes), maximumBytes: bytes.count) == bytes)
            guard !bytes.isEmpty else { continue }
            let error = #expect(throws: ServerError.self) {
                try Gunzip.decompress(file, maximumBytes: bytes.count - 1)
            }
            #expect(error?.code == .limitExceeded)
            for end in stride(from: 0, to: file.count - 1, by: max(1, file.count / 50)) {
                #expect(throws: ServerError.self) {
                    try Gunzip.decompress(Array(file[..<end]), maximumBytes: bytes.count)
                }
            }
        }
    }

    @Test("a body in gzip is taken, and a client that prefers it gets few headers")
    func minimal() async throws {
        let server = try await TestServer()
        let target = try await server.target(.recordsModify)
        let body: JSONValue = [
            "operations": [
                ["operationType": "create", "record": ["recordType": "Note", "recordName": "x"]]
            ]
        ]
        let prefer = try #require(HTTPField.Name("Prefer"))
        let answer = try await server.request(
            .post, target,
            headers: [
                .contentType: "application/json", .contentEncoding: "gzip",
                prefer: "return=minimal",
            ], body: Gzip.compress(body.serialized()))
        #expect(answer.status == 200)
        #expect(answer.json["records"]?.array?.count == 1)
        #expect(answer.headers[.accessControlAllowOrigin] == nil)
        // Who has sent it so knows.
        #expect(answer.headers[.acceptEncoding] == nil)
        let plain = try await server.request(
            .post, try await server.target(.recordsLookup),
            headers: [.contentType: "application/json", prefer: "return=minimal"],
            body: Array(#"{"records":[{"recordName":"x"}]}"#.utf8))
        #expect(plain.headers[.acceptEncoding] == "gzip")
        let usual = try await server.call(
            .recordsLookup, .private, as: .alice, ["records": [["recordName": "x"]]])
        #expect(usual.headers[.acceptEncoding] == nil)
        #expect(usual.headers[.accessControlAllowOrigin] == "*")
        let broken = try await server.request(
            .post, target,
            headers: [.contentType: "application/json", .contentEncoding: "gzip"],
            body: Array("{}".utf8))
        #expect(broken.status == 400)
    }
}
