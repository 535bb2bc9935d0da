import HTTPTypes
import HummingbirdCore
import NIOCore
import RecordModel
import RecordWire

/// The request of a page, without HTTP types.
struct PageRequest: Sendable {
    var client: PageClient
    var query: [String: Text] = [:]
    /// The fields of a posted form. It is nil for GET.
    var form: [String: Text]?
    var cookies: [String: String] = [:]
    var userAgent: Text = ""
    /// The origin of the page with the form, as the browser sends it.
    var origin: String?
    /// The relation between that page and this one, as the browser sends it.
    var fetchSite: String?

    init(client: PageClient) { self.client = client }

    var milliseconds: Int64 { client.now.nanoseconds / 1_000_000 }
    var isSecure: Bool { client.baseURL.hasPrefix("https:") }

    /// Indicates whether a browser says that another site sends this form. These pages ask browsers
    /// not to send their address, and such a browser sends the origin `null`: then the secret of
    /// the form decides alone.
    var isOfAnotherSite: Bool {
        guard form != nil else { return false }
        if let fetchSite, fetchSite != "same-origin", fetchSite != "none" { return true }
        guard let origin, origin != "null" else { return false }
        return Self.folded(origin) != Self.folded(client.baseURL)
    }

    /// Returns the origin in lower case, without the default port of its scheme, because browsers
    /// leave it out.
    private static func folded(_ origin: String) -> String {
        let text = origin.lowercased()
        let usual = text.hasPrefix("https:") ? ":443" : ":80"
        return text.hasSuffix(usual) ? String(text.dropLast(usual.count)) : text
    }

    /// Returns a value of the form, or otherwise of the query.
    subscript(name: String) -> Text? { form?[name] ?? query[name] }
}

extension PageRequest {
    /// Limits for forms, which are short.
    private static let maximumBodyBytes = 16 << 10
    private static let maximumItems = 50

    /// Reads a request. Errors: `badRequest` for a body that is no form, `limitExceeded` for a long
    /// one. Errors of the connection are passed on.
    init(_ request: Request, client: PageClient) async throws {
        self.init(client: client)
        query = try Self.items(request.uri.query ?? "")
        userAgent = Text(
            utf8: (request.headers[.userAgent] ?? "").utf8.filter { $0 >= 0x20 && $0 < 0x7F }
                .prefix(200).map { $0 })
        origin = request.headers[.origin]
        fetchSite = HTTPField.Name("Sec-Fetch-Site").flatMap { request.headers[$0] }
        for field in request.headers[values: .cookie] {
            for pair in field.split(separator: ";") {
                let parts = pair.drop { $0 == " " }.split(
                    separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2, cookies[String(parts[0])] == nil else { continue }
                cookies[String(parts[0])] = String(parts[1])
            }
        }
        guard request.method == .post else { return }
        let type = request.headers[.contentType]?.prefix { $0 != ";" } ?? ""
        guard type.lowercased() == "application/x-www-form-urlencoded" else {
            throw ServerError(.badRequest, "The body has to be a form, urlencoded.")
        }
        form = try Self.items(String(decoding: try await Self.body(request), as: UTF8.self))
    }

    private static func body(_ request: Request) async throws -> [UInt8] {
        var body: [UInt8] = []
        for try await part in request.body {
            guard body.count + part.readableBytes <= maximumBodyBytes else {
                throw ServerError(
                    .limitExceeded, "The form is larger than \(maximumBodyBytes) bytes.")
            }
            body.append(contentsOf: part.readableBytesView)
        }
        return body
    }

    /// Parses the items of a form. Errors: `badRequest` for an item that appears twice and for
    /// broken escapes.
    static func items(_ text: String) throws(ServerError) -> [String: Text] {
        var items: [String: Text] = [:]
        for item in text.split(separator: "&") {
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = QueryEncoding.decodeForm(parts[0].utf8),
                let value = QueryEncoding.decodeForm((parts.count > 1 ? parts[1] : "").utf8),
                items.updateValue(Text(utf8: value), forKey: String(decoding: name, as: UTF8.self))
                    == nil, items.count <= maximumItems
            else { throw ServerError(.badRequest, "The form or the query is malformed.") }
        }
        return items
    }
}
