import RecordModel

/// The limits for the cost of a connection and a request.
package struct HTTPLimits: Sendable, Equatable {
    /// The most bytes of the request line and all header fields.
    package var headerBytes = 32 << 10
    package var headerFields = 100
    /// The most bytes in the body of an operation or a form.
    package var bodyBytes = ServerLimits.requestBytes
    /// The most bytes in the body of a caller without a user.
    package var anonymousBodyBytes = 64 << 10
    /// The most bytes that all operations together may hold in bodies, values and answers.
    package var memoryBytes = 32 << 20
    /// The longest time from the first byte of a request (or the start of the connection) to the
    /// end of its header.
    package var headerSeconds = 10
    /// The longest time for the whole body of an operation.
    package var bodySeconds = 30
    /// The longest time between two bytes of an upload.
    package var uploadIdleSeconds = 30
    /// The longest time between two requests of a connection.
    package var keepAliveSeconds = 75
    /// The longest time from the end of a request to the start of its answer. Long polls have a
    /// time of their own.
    package var answerSeconds = 120
    /// The longest time without any progress while an answer is sent.
    package var writeIdleSeconds = 60
    package var connections = 2_000
    package var connectionsPerAddress = 1_000

    package init() {}
}
