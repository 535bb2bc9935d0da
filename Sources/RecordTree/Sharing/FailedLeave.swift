import RecordModel

/// A program that could not leave a share and may continue to remove its content, as `rm -r` does.
struct FailedLeave: Sendable {
    /// The program. Nil where it is not known: then any program counts.
    let program: Int32?
    /// The end of the time in which this counts, as uptime.
    let until: Duration
}
