import Glibc

/// The wait of a reader for the next call, awake when calls come in quick succession.
///
/// A thread that sleeps in the kernel is woken late: on a virtual machine, whose processor stops
/// when it has nothing to do, after 30 to 100 µs, which is longer than most calls take. The reader
/// therefore looks for the next call for `limit` before it sleeps. It does so only when the wait
/// before was shorter than that. So a series of calls costs at most one such time in vain, at its
/// end, and a mount that nobody uses costs nothing.
///
/// Between two looks the processor is not offered to others (sched_yield): with busy programs
/// beside, that gives a whole slice of time away (measured: removing a file takes twice as long).
struct CallWait {
    /// The longest time to look for a call, in nanoseconds.
    static let limit: UInt64 = 100_000

    /// Reads a clock that only goes forward, in nanoseconds.
    private let clock: () -> UInt64
    private var began: UInt64 = 0
    /// Indicates whether the wait before was short.
    private(set) var isQuick = false

    init(clock: @escaping () -> UInt64 = CallWait.monotonic) {
        self.clock = clock
    }

    /// Begins a wait: returns at once, or when a call has come, or after `limit`.
    /// - Parameter hasCall: tells whether a call waits to be read. Never blocks.
    mutating func begin(_ hasCall: () -> Bool) {
        began = clock()
        guard isQuick else { return }
        while !hasCall(), clock() - began < Self.limit {}
    }

    /// Ends the wait, when a call has been read.
    mutating func end() {
        isQuick = clock() - began < Self.limit
    }

    static func monotonic() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
