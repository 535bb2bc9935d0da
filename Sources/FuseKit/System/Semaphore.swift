import Glibc

/// A POSIX semaphore.
final class Semaphore: @unchecked Sendable {
    // @unchecked: the address never changes, and sem_post and sem_wait may be called anywhere.
    private let raw = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init(value: UInt32 = 0) {
        raw.initialize(to: sem_t())
        sem_init(raw, 0, value)
    }

    deinit {
        sem_destroy(raw)
        raw.deallocate()
    }

    func signal() { sem_post(raw) }

    func wait() {
        while sem_wait(raw) != 0, errno == EINTR {}
    }
}
