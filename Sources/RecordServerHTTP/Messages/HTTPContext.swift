package import RecordModel
package import RecordWire
import Synchronization

/// The facts about a request before its route is called. Routes of pages, assets and the courier
/// get it as well as the operations.
///
/// A route may throw `ServerError`: the answer is then the error as JSON, with its status.
package struct HTTPContext: Sendable {
    /// The ID of the request, a UUID. It appears in `x-apple-request-uuid`, in error bodies and in
    /// the log.
    package let requestID: Text
    /// The time of the request.
    package let now: Timestamp
    /// The scheme, host and port as the client sees them. There is no slash at the end.
    package let baseURL: String
    /// The address of the client. Behind a trusted proxy it is the one that the proxy names.
    package let clientAddress: String
    /// The facts for the log and the metrics, which are added while the request is handled.
    package let facts = RequestFacts()
    /// The components of the path for which the pattern of the route has names, not decoded.
    package var parameters: [Substring: Substring] = [:]

    /// Indicates whether the client speaks TLS, to this server or to the proxy. Cookies are then
    /// `Secure`.
    package var isSecure: Bool { baseURL.hasPrefix("https:") }
}

/// The facts that are learned about a request while it is handled. It has no tokens, no bodies and
/// no query strings.
package final class RequestFacts: Sendable {
    package struct Values: Sendable {
        /// The name of the endpoint: `records/modify`, `page`, `asset`, `courier`, ...
        package var endpoint = "other"
        package var container: Text?
        package var scope: DatabaseScope?
        package var user: UserName?
        package var code: ServerErrorCode?
        /// The bytes of the request's body, as far as it was read.
        package var bytesIn = 0
    }

    private let values = Mutex(Values())

    package init() {}
    package var current: Values { values.withLock { $0 } }
    package func note(_ change: (inout Values) -> Void) { values.withLock { change(&$0) } }
}
