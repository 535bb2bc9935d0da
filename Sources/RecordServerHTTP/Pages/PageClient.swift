package import RecordModel

/// The facts that a page needs to know of its client besides the request.
package struct PageClient: Hashable, Sendable {
    /// The scheme, host and port as the client sees them. There is no slash at the end.
    package let baseURL: String
    /// The client's network address, for the throttle of failed sign-ins.
    package let address: String
    package let requestID: Text
    package let now: Timestamp

    package init(baseURL: String, address: String, requestID: Text, now: Timestamp) {
        self.baseURL = baseURL
        self.address = address
        self.requestID = requestID
        self.now = now
    }
}
