import HTTPTypes
import HummingbirdCore
import RecordModel

extension HTTPField.Name {
    static let prefer = constant("Prefer")
    static let requestUUID = constant("x-apple-request-uuid")
    static let cloudKitVersion = constant("x-apple-cloudkit-version")
    static let webAuthToken = constant("X-Apple-CloudKit-Web-Auth-Token")
    static let session = constant("X-Apple-CloudKit-Session")
    static let requestKeyID = constant("X-Apple-CloudKit-Request-KeyID")
    static let requestDate = constant("X-Apple-CloudKit-Request-ISO8601Date")
    static let requestSignature = constant("X-Apple-CloudKit-Request-SignatureV1")
    static let forwarded = constant("Forwarded")
    static let forwardedFor = constant("X-Forwarded-For")
    static let forwardedProto = constant("X-Forwarded-Proto")
    static let forwardedHost = constant("X-Forwarded-Host")

    /// Returns the name of a header. The texts above are tokens of RFC 9110, so that the other name
    /// is never used.
    private static func constant(_ text: String) -> HTTPField.Name {
        HTTPField.Name(text) ?? .expires
    }
}

/// The headers of every answer, with those that browsers of other origins need.
enum AnswerHeaders {
    static let exposed =
        "X-Apple-Request-UUID,X-Apple-CloudKit-Web-Auth-Token,X-Apple-CloudKit-Session,"
        + "X-Responding-Instance,Via"

    /// Adds the headers. `isAPI` is true for everything except the pages for people.
    static func add(
        to response: inout Response, requestID: Text, now: Timestamp, isAPI: Bool,
        isMinimal: Bool, offersGzip: Bool
    ) {
        response.headers[.date] = HTTPDate.text(now)
        if isAPI, isMinimal {
            // This header tells clients that do not know yet which codings of a body the server
            // accepts (RFC 7694).
            if offersGzip { response.headers[.acceptEncoding] = "gzip" }
            return
        }
        response.headers[.requestUUID] = requestID.string
        response.headers[.xContentTypeOptions] = "nosniff"
        if response.headers[.cacheControl] == nil {
            response.headers[.cacheControl] = "no-store"
        }
        guard isAPI else { return }
        response.headers[.cloudKitVersion] = "1.0"
        // Credentials are sent in the URL or in headers that the client makes itself, never in
        // cookies, so any origin may ask.
        response.headers[.accessControlAllowOrigin] = "*"
        response.headers[.accessControlExposeHeaders] = exposed
    }

    /// Returns the answer to OPTIONS, on every path.
    static func preflight(_ request: Request) -> Response {
        var response = Response(status: .ok)
        response.headers[.allow] = "GET, HEAD, POST, PUT, OPTIONS"
        response.headers[.accessControlAllowMethods] = "GET, HEAD, POST, PUT, OPTIONS"
        response.headers[.accessControlAllowHeaders] =
            "Content-Type, Range, If-None-Match, If-Range, X-Apple-CloudKit-Request-KeyID, "
            + "X-Apple-CloudKit-Request-ISO8601Date, X-Apple-CloudKit-Request-SignatureV1"
        response.headers[.accessControlMaxAge] = "86400"
        return response
    }
}

extension Request {
    /// Indicates whether the client does not use the headers that browsers and Apple's clients
    /// read, and does not need a new token with each answer (`Prefer: return=minimal`, RFC 7240).
    var prefersMinimal: Bool {
        headers[.prefer]?.contains("return=minimal") ?? false
    }
}

/// The date format of HTTP (RFC 9110, section 5.6.7).
enum HTTPDate {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    static func text(_ time: Timestamp) -> String {
        // The date looks like YYYY-MM-DDThh:mm:ss.mmmZ.
        let date = ISO8601.print(milliseconds: time.seconds * 1_000)
        let parts = date.prefix(10).split(separator: "-")
        let day = Int(time.seconds / 86_400 % 7)
        guard parts.count == 3, let month = Int(parts[1]), days.indices.contains(day) else {
            return "Thu, 01 Jan 1970 00:00:00 GMT"
        }
        return "\(days[day]), \(parts[2]) \(months[month - 1]) \(parts[0]) "
            + "\(date.dropFirst(11).prefix(8)) GMT"
    }
}
