import CLinux
import Dispatch

/// How this process asks for memory and gives it back.
package enum ProcessMemory {
    /// Large bodies, values and answers come and go: without this the C library keeps what they
    /// took, once for each of its arenas. To be called before there are other threads.
    package static func giveBackWhatIsFreed() {
        _ = mallopt(M_ARENA_MAX, 2)
        _ = mallopt(M_MMAP_THRESHOLD, 128 << 10)
        _ = mallopt(M_TRIM_THRESHOLD, 1 << 20)
    }

    private static let trimming = DispatchQueue(label: "recordfs.trim", qos: .utility)

    /// Gives back, a little later, the pages between what is in use: the C library by itself gives
    /// back only what is behind it.
    package static func trim() { trimming.async { _ = malloc_trim(0) } }
}
