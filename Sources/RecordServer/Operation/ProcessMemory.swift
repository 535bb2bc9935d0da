import CLinux
import Dispatch
import Glibc

/// How this process asks for memory and gives it back.
package enum ProcessMemory {
    /// Large bodies, values and answers come and go: without this the C library keeps what they
    /// took, once for each of its arenas. To be called before there are other threads.
    package static func giveBackWhatIsFreed() {
        _ = mallopt(M_ARENA_MAX, 2)
        // Bodies, buffers and parts of answers get pages of their own: between small things that
        // stay they would leave holes.
        _ = mallopt(M_MMAP_THRESHOLD, 32 << 10)
        _ = mallopt(M_TRIM_THRESHOLD, 1 << 20)
    }

    private static let trimming = DispatchQueue(label: "recordfs.trim", qos: .utility)

    /// Gives back, a little later, the pages between what is in use: the C library by itself gives
    /// back only what is behind it.
    package static func trim() { trimming.async { _ = malloc_trim(0) } }

    private static let period = DispatchTimeInterval.milliseconds(500)
    private static let growthBytes = 4 << 20

    /// From now on does so whenever the process has grown: much of what comes and goes, such as
    /// connections, is counted by nobody.
    package static func watch() { look(above: resident()) }

    /// `floor` is what the process had when there was nothing more to give back.
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

    /// The memory of the process that is no file's, in bytes; 0 where the system does not say.
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
