import CTestSystem
import Glibc
import Synchronization

/// What is left of a directory when the power is cut: the content that each file had when it was last
/// put on stable storage, and nothing that was written since. At most one is watched at a time.
final class DurableDisk: Sendable {
    private static let watched = Mutex<DurableDisk?>(nil)

    private struct State {
        var files: [String: [UInt8]] = [:]
        var syncs = 0
        /// What was durable at the cut.
        var atCut: [String: [UInt8]]?
    }

    private let directory: String
    private let cut: Int
    private let whenCut: @Sendable () -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - files: what is durable now, by name.
    ///   - cut: the power goes right after so many syncs of files of the directory.
    ///   - whenCut: what else ends then.
    init(
        _ directory: String, files: [String: [UInt8]], cutAfter cut: Int,
        whenCut: @escaping @Sendable () -> Void
    ) {
        self.directory = directory
        self.cut = cut
        self.whenCut = whenCut
        state.withLock { $0.files = files }
        Self.watched.withLock { $0 = self }
        test_observe_syncs { descriptor in
            DurableDisk.watched.withLock(\.self)?.noteSync(descriptor)
        }
    }

    func stopWatching() {
        test_observe_syncs(nil)
        Self.watched.withLock { $0 = nil }
    }

    var syncs: Int { state.withLock(\.syncs) }
    var isCut: Bool { state.withLock { $0.atCut != nil } }

    /// What is left, by name: at the cut, or now.
    var left: [String: [UInt8]] { state.withLock { $0.atCut ?? $0.files } }

    private func noteSync(_ descriptor: Int32) {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let length = readlink("/proc/self/fd/\(descriptor)", &buffer, buffer.count)
        guard length > 0 else { return }
        let path = String(decoding: buffer[..<length], as: UTF8.self)
        guard path.hasPrefix(directory + "/"), let content = Self.content(of: descriptor) else {
            return
        }
        let isCut = state.withLock { state -> Bool in
            guard state.atCut == nil else { return false }
            state.files[String(path.dropFirst(directory.utf8.count + 1))] = content
            state.syncs += 1
            guard state.syncs == cut else { return false }
            state.atCut = state.files
            return true
        }
        if isCut { whenCut() }
    }

    /// By its own descriptor: to open the database would end the locks that SQLite has on it.
    /// Nil of a directory.
    private static func content(of descriptor: Int32) -> [UInt8]? {
        var content: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = pread(descriptor, &part, part.count, off_t(content.count))
            guard count >= 0 else { return nil }
            guard count > 0 else { return content }
            content += part[..<count]
        }
    }
}
