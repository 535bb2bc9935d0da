import CLinux
import FuseKit
import Glibc
import RecordModel
import RecordTree
import Synchronization

/// Notifies the kernel of changes that it cannot know: invalidations, and the touches that make
/// inotify see changes from elsewhere. Everything is sent from the notifier's thread, after the
/// commit, without holding a lock.
final class KernelMessenger: Sendable {
    private let tree: Tree
    private let notifier: Notifier
    private let mountpoint: String
    private let watches: InotifyWatches

    init(tree: Tree, notifier: Notifier, mountpoint: String) {
        self.tree = tree
        self.notifier = notifier
        self.mountpoint = mountpoint
        self.watches = InotifyWatches(mountpoint: mountpoint)
    }

    func send(_ notice: KernelNotice) {
        switch notice {
        case .content(let node): notifier.invalidateInode(NodeID(node.rawValue))
        case .replaced(let parent, let name, let old):
            notifier.delete(
                parent: NodeID(parent.rawValue), child: NodeID(old.rawValue), name: FileName(name))
        case .entry(let parent, let name):
            notifier.invalidateEntry(parent: NodeID(parent.rawValue), name: FileName(name))
        }
    }

    /// Sends notices and waits until the kernel has received them, but never for long: the kernel
    /// may need the thread that waits here.
    func deliver(_ notices: [KernelNotice]) {
        for notice in notices { send(notice) }
        waitUntilHeard(.milliseconds(100))
    }

    /// Returns when the kernel has received everything that was sent before, when there is no mount
    /// any more, or when the time is over.
    func waitUntilHeard(_ limit: Duration) {
        let heard = StopSignal()
        notifier.perform { heard.set() }
        let deadline = ContinuousClock.now + limit
        while !heard.wait(min(limit, .milliseconds(100))), !notifier.isStopped,
            ContinuousClock.now < deadline
        {}
    }

    /// Returns when the kernel has written out the data that programs have written into mappings,
    /// or when the time is over.
    func collectPages(_ limit: Duration) {
        let notices = tree.pagesOfOpenFiles()
        guard !notices.isEmpty else { return }
        for notice in notices { send(notice) }
        waitUntilHeard(limit)
    }

    /// Sends touches after the invalidations of the same change: the queue keeps the order.
    func send(_ touches: [Touch]) {
        guard !touches.isEmpty else { return }
        notifier.perform { [self] in
            tree.setTouchingThread(gettid())
            for touch in touches where watches.cover(directory: touch.directory.inode) {
                perform(touch)
            }
        }
    }

    private func perform(_ touch: Touch) {
        guard tree.prepare(touch) else { return }
        let path = Array(mountpoint.utf8) + [0x2f] + touch.directoryPath + [0x2f] + touch.name + [0]
        path.withUnsafeBufferPointer { buffer in
            buffer.withMemoryRebound(to: CChar.self) { path in
                guard let path = path.baseAddress else { return }
                switch touch.kind {
                case .created: Self.touch(path, O_WRONLY | O_CREAT | O_EXCL)
                case .changed: Self.touch(path, O_WRONLY)
                case .deleted: unlink(path)
                }
            }
        }
        tree.finish(touch)
    }

    private static func touch(_ path: UnsafePointer<CChar>, _ flags: Int32) {
        let descriptor = open(path, flags | O_NOFOLLOW | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { return }
        futimens(descriptor, nil)
        close(descriptor)
    }
}
