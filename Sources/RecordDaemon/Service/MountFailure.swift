package import RecordModel

/// A failure of a mount: its reason, and the place that the reason is about.
package struct MountFailure: Error, Equatable {
    package let subject: String?
    package let reason: RecordError

    package init(_ subject: String?, _ reason: RecordError) {
        self.subject = subject
        self.reason = reason
    }
}

/// Runs the body. Its error becomes a failure about `subject`.
func failing<T>(
    about subject: String? = nil, _ body: () throws(RecordError) -> T
) throws(MountFailure) -> T {
    do {
        return try body()
    } catch {
        throw MountFailure(subject, error)
    }
}
