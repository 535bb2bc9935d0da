import HTTPTypes
import Hummingbird
import RecordModel
import RecordWire

/// The request of a page, without HTTP types.
struct PageRequest: Sendable {
    var client: PageClient
    var query: [String: Text] = [:]
    /// The fields of a posted form; nil for GET.
    var form: [String: Text]?
    var cookies: [String: String] = [:]
    var userAgent: Text = ""
    /// The origin of the page that the form was on, as the browser tells it.
    var origin: String?
    /// How that page and this one belong together, as the browser tells it.
    var fetchSite: String?

    init(client: PageClient) { self.client = client }

    var milliseconds: Int64 { client.now.nanoseconds / 1_000_000 }
    var isSecure: Bool { client.baseURL.hasPrefix("https:") }

    /// Whether a browser says that another site sends this form. A browser that is to tell nobody
    /// where it comes from, as these pages ask it to, sends the origin `null`: then the secret of the
    /// form decides alone.
    var isOfAnotherSite: Bool {
        guard form != nil else { return false }
        if let fetchSite, fetchSite != "same-origin", fetchSite != "none" { return true }
        guard let origin, origin != "null" else { return false }
        return Self.folded(origin) != Self.folded(client.baseURL)
    }

    /// Browsers leave out the port that a scheme has anyway.
    private static func folded(_ origin: String) -> String {
        let text = origin.lowercased()
        let usual = text.hasPrefix("https:") ? ":443" : ":80"
        return text.hasSuffix(usual) ? String(text.dropLast(usual.count)) : text
    }

    /// A value of the form, else of the query.
    subscript(name: String) -> Text? { form?[name] ?? query[name] }
}

extension PageRequest {
    /// Forms are short.
    private static let maximumBodyBytes = 16 << 10
    private static let maximumItems = 50

    /// Errors: `badRequest` for a body that is no form, `limitExceeded` for a long one; what goes
    /// wrong on the connection comes through.
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

    /// Errors: `badRequest` for an item that comes twice and for broken escapes.
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
