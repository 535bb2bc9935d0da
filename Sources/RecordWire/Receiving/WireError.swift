package import RecordModel

/// An error as an answer tells it: of a whole request, or of one item of it (reference §3.1, §3.2).
package struct WireError: Error, Hashable, Sendable {
    /// `serverErrorCode` as it came: servers have codes that nobody here knows.
    package let text: Text
    package let reason: Text
    /// In seconds; nil when the same request cannot succeed later.
    package var retryAfter: Double?
    /// Where a person can sign in.
    package var redirectURL: Text?
    /// `uuid`: how the server calls the request in its logs.
    package var requestID: Text?
    /// The record as the server has it, of a conflict (an extension).
    package var serverRecord: RecordAnswer?

    /// Nil for a code that nobody here knows.
    package var code: ServerErrorCode? { ServerErrorCode(rawValue: text.string) }

    package init(text: Text, reason: Text) {
        self.text = text
        self.reason = reason
    }

    /// An error dictionary; nil for a dictionary without `serverErrorCode`, which is none.
    package init?(_ json: JSONReader) throws(ServerError) {
        guard let code = json["serverErrorCode"] else { return nil }
        self.init(text: try code.string(), reason: json["reason"]?.value.string ?? "")
        retryAfter = try json["retryAfter"]?.wireDouble()
        redirectURL = try json.string("redirectURL")
        requestID = try json.string("uuid")
        serverRecord = try json["serverRecord"].map { (json) throws(ServerError) in
            try RecordAnswer(json)
        }
    }
}
