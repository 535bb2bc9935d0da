package import RecordModel

/// An error in the form of an answer: of a whole request, or of one item of it (CloudKit Web
/// Services Reference, Error Codes).
package struct WireError: Error, Hashable, Sendable {
    /// `serverErrorCode` as it was received: servers have codes that this program does not know.
    package let text: Text
    package let reason: Text
    /// The time in seconds after which the client may try again. It is nil when the same request
    /// cannot succeed later.
    package var retryAfter: Double?
    /// The address where a person can sign in.
    package var redirectURL: Text?
    /// `uuid`: the name of the request in the server's logs.
    package var requestID: Text?
    /// The record of the server, for a conflict (an extension).
    package var serverRecord: RecordAnswer?

    /// The code. It is nil for a code that this program does not know.
    package var code: ServerErrorCode? { ServerErrorCode(rawValue: text.string) }

    package init(text: Text, reason: Text) {
        self.text = text
        self.reason = reason
    }

    /// Reads an error dictionary. Returns nil for a dictionary without `serverErrorCode`, which is
    /// no error.
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
