import HTTPTypes
import HummingbirdCore
import NIOCore
import RecordModel
package import RecordServerCore
import RecordWire

/// Adds `/assets/up/{token}` and `/assets/down/{token}/{name}`, which need no credential except the
/// sealed token.
package func addAssetRoutes(to table: inout RouteTable, service: RecordService) {
    let routes = AssetRoutes(service: service)
    table.on("/assets/up/{token}", .post) { try await routes.upload($0, $1) }
    table.on("/assets/up/{token}", .put) { try await routes.upload($0, $1) }
    table.on("/assets/down/{token}", .get) { try await routes.download($0, $1) }
    table.on("/assets/down/{token}/{name}", .get) { try await routes.download($0, $1) }
}

struct AssetRoutes: Sendable {
    let service: RecordService

    func upload(_ request: Request, _ context: HTTPContext) async throws -> Response {
        context.facts.note { $0.endpoint = "assets/up" }
        let upload = try AssetUpload(
            token: Self.token(context), resources: service.resources, requestID: context.requestID,
            now: context.now)
        context.facts.note {
            $0.container = upload.ticket.place.zone.database.container.container
            $0.user = upload.ticket.user
        }
        let length = try Self.length(request)
        let form = try MultipartReader(contentType: request.headers[.contentType])
        let room = try await upload.admit(length: length, isForm: form != nil)
        let body = request.body.map { Array($0.readableBytesView) }
        let asset = try await upload.store(body, form: form, length: length, in: room)
        context.facts.note { $0.bytesIn = Int(asset.size) }
        let answer = JSONValue.object([
            JSONMember(key: "singleFile", value: .object(asset.members))
        ])
        return Response(
            status: .ok, headers: [.contentType: "application/json; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer.serialized())))
    }

    private static func token(_ context: HTTPContext) -> Text {
        Text(context.parameters["token"] ?? "")
    }

    private static func length(_ request: Request) throws(ServerError) -> Int64? {
        guard let header = request.headers[.contentLength] else { return nil }
        guard let length = Int64(header), length >= 0 else {
            throw ServerError(.badRequest, "Content-Length is no number of bytes.")
        }
        return length
    }

    func download(_ request: Request, _ context: HTTPContext) async throws -> Response {
        context.facts.note { $0.endpoint = "assets/down" }
        let download = try AssetRequest(
            token: Self.token(context), resources: service.resources, requestID: context.requestID,
            now: context.now)
        context.facts.note {
            $0.container = download.ticket.place.zone.database.container.container
            $0.user = download.ticket.viewer
        }
        let row = try await download.row()
        let tag = "\"\(row.fileChecksum)\""
        var headers = Self.headers(tag: tag)
        if EntityTag.isListed(tag, in: request.headers[.ifNoneMatch]) {
            return Response(status: .notModified, headers: headers)
        }
        headers[.contentType] = "application/octet-stream"
        headers[.contentDisposition] = Self.disposition(
            context.parameters["name"].map(String.init), field: download.ticket.place.field)
        let file = try await service.assets.open(row.sha256)
        let header = request.headers[.range]
        let isCurrent = EntityTag.holds(tag, ifRange: request.headers[.ifRange])
        switch ByteRange(isCurrent ? header : nil, size: file.size) {
        case .everything:
            return Response(
                status: .ok, headers: headers, body: Self.body(file, from: 0, count: file.size))
        case .part(let first, let count):
            headers[.contentRange] = "bytes \(first)-\(first + count - 1)/\(file.size)"
            return Response(
                status: .partialContent, headers: headers,
                body: Self.body(file, from: first, count: count))
        case .unsatisfiable:
            headers[.contentRange] = "bytes */\(file.size)"
            return Response(status: .rangeNotSatisfiable, headers: headers)
        }
    }

    /// Returns the headers that keep a browser from showing, running or leaking the bytes of a
    /// stranger.
    private static func headers(tag: String) -> HTTPFields {
        var headers = HTTPFields()
        headers[.eTag] = tag
        headers[.acceptRanges] = "bytes"
        // Each use asks the server again, because the right to read may have ended.
        headers[.cacheControl] = "private, no-cache"
        headers[.contentSecurityPolicy] = "default-src 'none'; sandbox"
        headers[.xContentTypeOptions] = "nosniff"
        return headers
    }

    /// Returns a body in parts. Each part is read when the connection has taken the one before.
    private static func body(_ file: any StoredAsset, from first: Int64, count: Int64)
        -> ResponseBody
    {
        ResponseBody(contentLength: Int(count)) { writer in
            var offset = first
            let end = first + count
            while offset < end {
                let part = ByteBuffer(
                    bytes: try await file.read(
                        at: offset, count: Int(min(end - offset, Int64(ResponseBody.partBytes)))))
                guard part.readableBytes > 0 else {
                    throw ServerError(.internalError, "The file of an asset was cut.")
                }
                try await writer.write(part)
                offset += Int64(part.readableBytes)
            }
            try await writer.finish(nil)
        }
    }

    /// Returns the last part of the URL as a plain file name, or the field's name for the
    /// placeholder.
    static func disposition(_ name: String?, field: FieldName) -> String {
        let decoded = name.flatMap { PercentEncoding.decode($0.utf8) } ?? []
        var safe = decoded.map { byte in isSafe(byte) ? byte : UInt8(ascii: "_") }
        while safe.first == UInt8(ascii: ".") { safe.removeFirst() }
        if safe.isEmpty || decoded.elementsEqual("${f}".utf8) { safe = field.bytes }
        return "attachment; filename=\"\(String(decoding: safe.prefix(200), as: UTF8.self))\""
    }

    private static func isSafe(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
            UInt8(ascii: "_"), UInt8(ascii: " "):
            true
        default: false
        }
    }
}
