import Glibc

/// The caller for which a thread works. Work that a call leaves to another thread takes it along.
package struct ServedCaller: Sendable {
    /// The slot of each thread. Nil when the system has no more slots: then no caller is known.
    private static let slot: pthread_key_t? = {
        var key = pthread_key_t()
        return pthread_key_create(&key, nil) == 0 ? key : nil
    }()

    /// The caller's thread in the numbering of the kernel. 0 for the kernel itself, and for a process
    /// of another container.
    package let threadID: Int32

    /// The caller for which this thread works. Nil on a thread that works for none.
    package static var current: ServedCaller? {
        guard let slot, let value = pthread_getspecific(slot) else { return nil }
        return ServedCaller(threadID: Int32(truncatingIfNeeded: Int(bitPattern: value) - 1))
    }

    /// Notes that this thread works for a caller from now on.
    package func begin() {
        guard let slot = Self.slot else { return }
        // One more than the number, because an empty slot is 0.
        let value = Int(UInt32(bitPattern: threadID)) + 1
        pthread_setspecific(slot, UnsafeRawPointer(bitPattern: value))
    }

    /// Notes that this thread works for nobody.
    package static func end() {
        guard let slot else { return }
        pthread_setspecific(slot, nil)
    }
}
