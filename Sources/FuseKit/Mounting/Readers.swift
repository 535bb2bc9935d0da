import CFuse3
import Glibc
import Synchronization

/// The threads that read calls from the kernel and execute them.
///
/// One thread reads and works at a time, and the others stand by. If several waited in the kernel,
/// it would wake them in turn, and each call would need a change of thread and processor (measured
/// on 2 processors: opening and closing a file takes a sixth longer with 2 threads, up to twice as
/// long with 4). A call that takes long passes the right to read to another thread: fsync at once,
/// any other call when the watch finds it unfinished after a tick.
final class Readers: Sendable {
    private static let tick = timespec(tv_sec: 0, tv_nsec: 10_000_000)
    /// The number of ticks without any call after which the watch sleeps until the next call.
    private static let ticksToSleep = 2

    private let session: SessionPointer
    private let begins: @Sendable () -> Void
    private let ends: @Sendable () -> Void
    /// The right to read. The thread that has it is the reader.
    private let right = Semaphore(value: 1)
    /// The number of calls that have begun. It gives each call its number.
    private let begun = Atomic<UInt64>(0)
    /// The number of the call that the reader executes. 0 while it reads, or has lost the right.
    private let current = Atomic<UInt64>(0)
    private let wake = Semaphore()
    /// The readers, as long as none has ended. `stop` interrupts their reads.
    private let crew = Mutex(Crew())
    private let hasEnded = Semaphore()
    private let isAsleep = Atomic<Bool>(false)
    private let isOver = Atomic<Bool>(false)
    /// Indicates whether a reader may look for calls while their callers run: not on one processor.
    private let canStayAwake = recordfs_processor_count() > 1

    private struct Crew: Sendable {
        var readers: [SystemThread] = []
        var hasEnded = false
    }

    /// - Parameters:
    ///   - begins: called by each reader before its first call.
    ///   - ends: called by each reader after its last call.
    init(
        _ session: SessionPointer, begins: @escaping @Sendable () -> Void,
        ends: @escaping @Sendable () -> Void
    ) {
        self.session = session
        self.begins = begins
        self.ends = ends
    }

    /// Executes calls until the file system is unmounted, or until `stop`.
    func run(threads: Int) throws(Errno) {
        let watch = threads > 1 ? try SystemThread(name: "fuse-watch") { self.watch() } : nil
        defer {
            isOver.store(true, ordering: .sequentiallyConsistent)
            wake.signal()
            watch?.join()
        }
        for number in 1...threads {
            do throws(Errno) {
                let reader = try SystemThread(name: "fuse-\(number)") { self.readCalls() }
                crew.withLock { $0.readers.append(reader) }
            } catch {
                // With one reader the mount works. Without any reader it would block its users.
                guard number == 1 else { break }
                crew.withLock { $0.hasEnded = true }
                throw error
            }
        }
        hasEnded.wait()
        let readers = crew.withLock { crew in
            crew.hasEnded = true
            return crew.readers
        }
        for reader in readers { reader.join() }
    }

    /// Stops taking calls although the file system has users: running calls are answered, and `run`
    /// returns. Calls that wait in the kernel fail when the session is destroyed.
    func stop() {
        SystemThread.prepareInterrupts()
        // A reader that is about to read misses an interrupt, and therefore gets another one.
        while !interruptReaders() {
            var tick = Self.tick
            nanosleep(&tick, nil)
        }
    }

    /// Interrupts the readers.
    /// - Returns: whether they are ending by themselves.
    private func interruptReaders() -> Bool {
        crew.withLock { crew in
            guard !crew.hasEnded else { return true }
            fuse_session_exit(session.raw)
            for reader in crew.readers { reader.interrupt() }
            return false
        }
    }

    private func readCalls() {
        begins()
        defer { ends() }
        var buffer = fuse_buf()
        defer { free(buffer.mem) }
        var wait = takeRight()
        while fuse_session_exited(session.raw) == 0 {
            if canStayAwake { wait.begin(session.hasCall) }
            let length = fuse_session_receive_buf(session.raw, &buffer)
            wait.end()
            if length == -EINTR || length == -EAGAIN { continue }
            guard length > 0 else { break }
            if buffer.isSlow {
                right.signal()
                fuse_session_process_buf(session.raw, &buffer)
                wait = takeRight()
            } else {
                let call = begin()
                fuse_session_process_buf(session.raw, &buffer)
                if !end(call) { wait = takeRight() }
            }
        }
        // The reason that ended this reader ends the next one too.
        fuse_session_exit(session.raw)
        right.signal()
        hasEnded.signal()
    }

    /// Waits for the right to read. It is free because a call takes long: its program does nothing
    /// meanwhile, so the first wait is asleep, whatever came before.
    private func takeRight() -> CallWait {
        right.wait()
        return CallWait()
    }

    private func begin() -> UInt64 {
        let call = begun.add(1, ordering: .sequentiallyConsistent).newValue
        current.store(call, ordering: .sequentiallyConsistent)
        if isAsleep.load(ordering: .sequentiallyConsistent),
            isAsleep.exchange(false, ordering: .sequentiallyConsistent)
        {
            wake.signal()
        }
        return call
    }

    /// Notes the end of a call.
    /// - Returns: whether this thread still has the right to read.
    private func end(_ call: UInt64) -> Bool {
        current.compareExchange(
            expected: call, desired: 0, ordering: .sequentiallyConsistent
        ).exchanged
    }

    /// Takes the right to read away from a thread that works on one call for a whole tick.
    private func watch() {
        var seen: UInt64 = 0
        var idleTicks = 0
        while !isOver.load(ordering: .sequentiallyConsistent) {
            let call = current.load(ordering: .sequentiallyConsistent)
            let last = begun.load(ordering: .sequentiallyConsistent)
            if call != 0, call == seen, end(call) { right.signal() }
            idleTicks = last == seen ? idleTicks + 1 : 0
            seen = last
            if idleTicks >= Self.ticksToSleep {
                sleep(unlessAfter: last)
                idleTicks = 0
            } else {
                // The time is relative, so that a change of the clock does not stop the watch.
                var tick = Self.tick
                nanosleep(&tick, nil)
            }
        }
    }

    private func sleep(unlessAfter last: UInt64) {
        isAsleep.store(true, ordering: .sequentiallyConsistent)
        // A call that began before the flag was set would not have woken the watch.
        if begun.load(ordering: .sequentiallyConsistent) == last { wake.wait() }
        isAsleep.store(false, ordering: .sequentiallyConsistent)
    }
}

extension fuse_buf {
    /// Indicates whether the call usually waits for the disk, from the header at the beginning of
    /// each call (linux/fuse.h: length, operation).
    fileprivate var isSlow: Bool {
        let fsync: UInt32 = 20
        let fsyncdir: UInt32 = 30
        guard size >= 8, let mem else { return false }
        let operation = mem.loadUnaligned(fromByteOffset: 4, as: UInt32.self)
        return operation == fsync || operation == fsyncdir
    }
}
