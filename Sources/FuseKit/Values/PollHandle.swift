import CFuse3

/// A caller that waits in `poll` or `select` for a file to become ready. `notify` wakes it.
package final class PollHandle: @unchecked Sendable {
    // @unchecked: libfuse allows notification from any thread; the pointer never changes.
    private let raw: OpaquePointer

    init(_ raw: OpaquePointer) { self.raw = raw }

    deinit { fuse_pollhandle_destroy(raw) }

    /// Makes the kernel ask again with poll.
    package func notify() {
        fuse_lowlevel_notify_poll(raw)
    }
}
