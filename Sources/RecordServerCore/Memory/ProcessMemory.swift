import CLinux
import Dispatch
import Glibc

/// The way in which this process asks for memory and gives it back.
package enum ProcessMemory {
    /// Sets the C library up so that it gives freed memory back. Large bodies, values and answers
    /// are made and freed all the time. Without this, the C library keeps their memory, once for
    /// each of its arenas. Call it before there are other threads.
    package static func giveBackWhatIsFreed() {
        _ = mallopt(M_ARENA_MAX, 2)
        // Bodies, buffers and parts of answers get pages of their own. Between small values that
        // stay, they would leave holes.
        _ = mallopt(M_MMAP_THRESHOLD, 32 << 10)
        _ = mallopt(M_TRIM_THRESHOLD, 1 << 20)
    }

    private static let trimming = DispatchQueue(label: "recordfs.trim", qos: .utility)

    /// Gives back, a little later, the free pages between used ones. The C library by itself gives
    /// back only the pages after the last used one.
    package static func trim() { trimming.async { _ = malloc_trim(0) } }

    private static let period = DispatchTimeInterval.milliseconds(500)
    private static let growthBytes = 4 << 20

    /// Trims from now on whenever the process has grown, because much short-lived memory, such as
    /// that of connections, is not counted anywhere.
    package static func watch() { look(above: resident()) }

    /// Looks at the memory again and again. `floor` is the memory of the process when there was
    /// nothing more to give back.
    private static func look(above floor: Int) {
        trimming.asyncAfter(deadline: .now() + period) {
            var now = resident()
            if now > floor + growthBytes {
                _ = malloc_trim(0)
                now = resident()
                look(above: now)
            } else {
                look(above: min(floor, now))
            }
        }
    }

    /// Returns the memory of the process that does not belong to a file, in bytes. Returns 0 when
    /// the system does not say.
    private static func resident() -> Int {
        let descriptor = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return 0 }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 128)
        let count = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
        let numbers = bytes.prefix(max(0, count)).split(separator: UInt8(ascii: " "))
            .map { Int(String(decoding: $0, as: UTF8.self)) ?? 0 }
        guard numbers.count > 2 else { return 0 }
        return (numbers[1] - numbers[2]) * Int(getpagesize())
    }
}
