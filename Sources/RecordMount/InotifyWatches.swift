import FuseKit
import Glibc
import RecordTree
import Synchronization

/// The directories of the mount that a program watches with inotify, read from /proc.
///
/// A touch needs several kernel crossings, so it is made only where a program would see it. The
/// result is kept for a while: many changes in a row need only one read of /proc.
final class InotifyWatches: Sendable {
    private static let kept = Duration.seconds(1)

    private struct State {
        var readAt: ContinuousClock.Instant?
        var inodes: Set<UInt64> = []
    }

    private let mountpoint: String
    private let state = Mutex(State())

    init(mountpoint: String) { self.mountpoint = mountpoint }

    /// Returns whether the directory, or any file of the mount, is watched. A watched file (tail
    /// -F) shows its own inode, which does not say where it is.
    func cover(directory inode: UInt64) -> Bool {
        let now = ContinuousClock.now
        let fresh = state.withLock { state in
            state.readAt.flatMap { now < $0 + Self.kept ? state.inodes : nil }
        }
        let inodes = fresh ?? readWatches()
        if fresh == nil {
            state.withLock { state in
                state.readAt = now
                state.inodes = inodes
            }
        }
        return Self.cover(directory: inode, inodes)
    }

    /// - Parameter watched: the watched inodes of the mount.
    static func cover(directory inode: UInt64, _ watched: Set<UInt64>) -> Bool {
        watched.contains(inode)
            || watched.contains { !NodeNumber(rawValue: $0).isDirectoryOfMount }
    }

    private func readWatches() -> Set<UInt64> {
        guard let device = Self.device(of: mountpoint) else { return [] }
        var inodes: Set<UInt64> = []
        for process in Self.names("/proc") where process.first?.isNumber == true {
            let descriptors = "/proc/\(process)/fd"
            for descriptor in Self.names(descriptors) {
                guard Self.link("\(descriptors)/\(descriptor)") == "anon_inode:inotify" else {
                    continue
                }
                inodes.formUnion(
                    Self.watches("/proc/\(process)/fdinfo/\(descriptor)", device: device))
            }
        }
        return inodes
    }

    /// Returns the device of the mount in the form of fdinfo.
    private static func device(of mountpoint: String) -> String? {
        guard let device = MountPoint.device(at: mountpoint) else { return nil }
        let numbers = device.split(separator: ":").compactMap { UInt64($0) }
        guard numbers.count == 2 else { return nil }
        return String(numbers[0] << 20 | numbers[1], radix: 16)
    }

    /// Returns the watched inodes in lines such as
    /// `inotify wd:1 ino:2a sdev:33 mask:... ignored_mask:0 ...`.
    private static func watches(_ path: String, device: String) -> [UInt64] {
        lines(path).compactMap { line in
            let words = line.split(separator: " ")
            guard words.first == "inotify", words.contains("sdev:\(device)"),
                let inode = words.first(where: { $0.hasPrefix("ino:") })
            else { return nil }
            return UInt64(inode.dropFirst(4), radix: 16)
        }
    }

    private static func names(_ path: String) -> [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) {
                    String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                })
        }
        return names
    }

    private static func link(_ path: String) -> String {
        String(
            unsafeUninitializedCapacity: 64,
            initializingUTF8With: { buffer in
                buffer.withMemoryRebound(to: CChar.self) {
                    max(0, readlink(path, $0.baseAddress.unsafelyUnwrapped, $0.count))
                }
            })
    }

    private static func lines(_ path: String) -> [Substring] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            guard count > 0 else { break }
            bytes += chunk.prefix(count)
        }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    }
}
