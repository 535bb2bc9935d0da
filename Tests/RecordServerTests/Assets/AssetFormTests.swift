import HTTPTypes
import RecordModel
import RecordServerCore
import RecordServerHTTP
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Asset upload as a form", .everyTransport) struct AssetFormTests {
    private static let boundary = "----WebKitFormBoundary7MA4YWxkTrZu0gW"

    private static func part(_ disposition: String, _ bytes: [UInt8], _ more: String = "")
        -> [UInt8]
    {
        Array("--\(boundary)\r\nContent-Disposition: form-data; \(disposition)\r\n\(more)\r\n".utf8)
            + bytes + Array("\r\n".utf8)
    }

    struct Form: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let body: [UInt8]

        init(_ name: String, _ body: [UInt8]) {
            testDescription = name
            self.body = body
        }
    }

    private static let end = Array("--\(boundary)--\r\n".utf8)

    private func send(
        _ body: [UInt8], _ fixture: AssetFixture, type: String? = nil,
        method: HTTPRequest.Method = .post
    ) async throws -> TestServer.Answer {
        try await fixture.server.request(
            method, try await fixture.uploadPath(),
            headers: [
                .contentType: type ?? "multipart/form-data; boundary=\(Self.boundary)"
            ], body: body)
    }

    @Test(
        "the file of a form is stored without its envelope",
        arguments: [HTTPRequest.Method.post, .put])
    func file(_ method: HTTPRequest.Method) async throws {
        let fixture = try await AssetFixture()
        // What looks like a boundary and is none is content.
        let bytes =
            pattern(200_000) + Array("\r\n--\(Self.boundary.dropLast())\r\n--".utf8) + [13, 10]
        let answer = try await send(
            Self.part(
                "name=\"file\"; filename=\"a \\\"b\\\"; c.png\"", bytes,
                "Content-Type: image/png\r\n") + Self.end, fixture, method: method)
        #expect(answer.status == 200, "\(answer.text)")
        #expect(answer.json.at("singleFile.size").int64 == Int64(bytes.count))
        #expect(try await fixture.files == [SHA256.hash(bytes).hex])
    }

    @Test(
        "the file is found among other parts, and a form's only part needs no file name",
        arguments: [
            Form(
                "second", part("name=\"key\"", [65, 66]) + part("name=f; filename=x", [1, 2, 3])),
            Form("first", part("name=f; filename=x", [1, 2, 3]) + part("name=\"key\"", [65, 66])),
            Form(
                "extended name",
                part(
                    "name=f; filename*=UTF-8''x", [1, 2, 3],
                    "Content-Transfer-Encoding: binary\r\n")),
            Form("only part", part("name=f", [1, 2, 3])),
            Form("preamble", Array("preamble\r\n".utf8) + part("name=f", [1, 2, 3])),
        ])
    func chosen(_ form: Form) async throws {
        let fixture = try await AssetFixture()
        let answer = try await send(form.body + Self.end + Array("epilogue".utf8), fixture)
        #expect(answer.status == 200, "\(answer.text)")
        #expect(answer.json.at("singleFile.size") == 3)
        #expect(try await fixture.files == [SHA256.hash([1, 2, 3]).hex])
    }

    @Test("an empty file of a form is an asset of no bytes")
    func empty() async throws {
        let fixture = try await AssetFixture()
        let answer = try await send(Self.part("name=f; filename=x", []) + Self.end, fixture)
        #expect(answer.json.at("singleFile.size") == 0, "\(answer.text)")
    }

    @Test(
        "a form from which no single file can be taken is refused and leaves nothing",
        arguments: [
            Form(
                "two files",
                part("name=a; filename=x", [1]) + part("name=b; filename=y", [2]) + end),
            Form("no file", part("name=a", [1]) + part("name=b", [2]) + end),
            Form("no end", part("name=a; filename=x", [1])),
            Form(
                "base64",
                part("name=a; filename=x", [1], "Content-Transfer-Encoding: base64\r\n") + end),
            Form("boundary and more", Array("--\(boundary)x\r\n\r\n1\r\n".utf8) + end),
            Form("no part", end),
            Form("no form", Array("no form at all".utf8)),
            Form(
                "large header",
                part("name=a; filename=x", [1], "X: \(String(repeating: "x", count: 70_000))\r\n")
                    + end),
        ])
    func refused(_ form: Form) async throws {
        let fixture = try await AssetFixture()
        let answer = try await send(form.body, fixture)
        #expect(answer.status == 400, "\(answer.text)")
        #expect(answer.code == "BAD_REQUEST")
        #expect(try await fixture.files == [])
    }

    @Test(
        "an envelope that cannot be opened is refused",
        arguments: [
            "multipart/form-data", "multipart/form-data; boundary=", "multipart/mixed; boundary=x",
            "Multipart/Related;boundary=x",
        ])
    func unknown(_ type: String) async throws {
        let fixture = try await AssetFixture()
        let answer = try await send(Self.part("name=f", [1]) + Self.end, fixture, type: type)
        #expect(answer.status == 400, "\(answer.text)")
        #expect(try await fixture.files == [])
    }

    @Test("a quoted boundary and a type in other letters are the same form")
    func spelling() async throws {
        let fixture = try await AssetFixture()
        let answer = try await send(
            Self.part("name=f; filename=x", [1, 2]) + Self.end, fixture,
            type: "Multipart/Form-Data; charset=utf-8; Boundary=\"\(Self.boundary)\"")
        #expect(answer.json.at("singleFile.size") == 2, "\(answer.text)")
    }

    @Test("the limit is one of the file, to the byte", arguments: [(1000, 200), (1001, 413)])
    func limit(_ size: (bytes: Int, status: Int)) async throws {
        let fixture = try await AssetFixture {
            $0.service.assetBytes = 1000
        }
        let answer = try await send(
            Self.part("name=f; filename=x", pattern(size.bytes)) + Self.end, fixture)
        #expect(answer.status == size.status, "\(answer.text)")
        #expect(try await fixture.files.count == (size.status == 200 ? 1 : 0))
    }

    @Test("a form that comes in pieces of any size is the same form")
    func pieces() async throws {
        let fixture = try await AssetFixture(.socket)
        let bytes = pattern(300) + Array("\r\n--\(Self.boundary.dropLast(2))".utf8)
        let body = Self.part("name=f; filename=x", bytes) + Self.end
        for size in [1, 7, 61] {
            let (path, port) = (try await fixture.uploadPath(), fixture.server.port)
            let answer = try await RawHTTP.run {
                let connection = try RawConnection(port: port)
                try connection.send(
                    "POST \(path) HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n"
                        + "Content-Type: multipart/form-data; boundary=\(Self.boundary)\r\n"
                        + "Connection: close\r\n\r\n")
                let chunks = stride(from: 0, to: body.count, by: size).flatMap { start in
                    let part = body[start..<min(start + size, body.count)]
                    return Array("\(String(part.count, radix: 16))\r\n".utf8) + part + [13, 10]
                }
                try connection.send(chunks + Array("0\r\n\r\n".utf8))
                return try connection.readAnswer()
            }
            #expect(answer?.status == 200, "\(answer?.text ?? "")")
        }
        #expect(try await fixture.files == [SHA256.hash(bytes).hex])
    }
}
