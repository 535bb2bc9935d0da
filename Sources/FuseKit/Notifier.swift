import CFuse3
import Glibc
import Synchronization

/// Tells the kernel what it must no longer believe.
///
/// Requests are queued and go out in their order from a thread of their own, because the kernel
/// may make a notification wait for calls in progress on the same directory or file. So callers
/// are never blocked and may hold what they like; still, queue after the commit that makes the
/// change visible. What the kernel does not have cached is no error.
package final class Notifier: Sendable {
    private enum Item: Sendable {
        case inode(NodeID, offset: Int64, length: Int64)
        case entry(parent: NodeID, name: FileName)
        case deleted(parent: NodeID, child: NodeID, name: FileName)
        case work(@Sendable () -> Void)
    }

    private struct State: Sendable {
        var items: [Item] = []
        var session: SessionPointer?
        var isClosed = false
        var thread: SystemThread?
    }

    /// Guards the queue and who works on it.
    private let state = Mutex(State())
    private let wakeup = Semaphore()

    init() {}

    /// Drops cached pages of a file from `offset` on, and its attributes.
    /// - Parameters:
    ///   - offset: negative to drop the attributes only.
    ///   - length: in bytes; 0 means to the end.
    package func invalidateInode(_ node: NodeID, offset: Int64 = 0, length: Int64 = 0) {
        enqueue(.inode(node, offset: offset, length: length))
    }

    /// Makes the kernel ask again for a name, also one that it believes not to exist.
    package func invalidateEntry(parent: NodeID, name: FileName) {
        enqueue(.entry(parent: parent, name: name))
    }

    /// A name is gone: like `invalidateEntry`, and users of `child` see it as deleted (inotify
    /// watches of it end).
    package func delete(parent: NodeID, child: NodeID, name: FileName) {
        enqueue(.deleted(parent: parent, child: child, name: name))
    }

    /// Runs `work` after everything queued before; it may make calls through the mount.
    package func perform(_ work: @escaping @Sendable () -> Void) {
        enqueue(.work(work))
    }

    /// Whether nothing that is queued is done any more.
    package var isStopped: Bool { state.withLock { $0.isClosed } }

    private func enqueue(_ item: Item) {
        let wasEmpty = state.withLock { state in
            guard !state.isClosed else { return false }
            state.items.append(item)
            return state.items.count == 1
        }
        if wasEmpty { wakeup.signal() }
    }

    func start(_ session: SessionPointer) throws(Errno) {
        state.withLock { $0.session = session }
        let thread = try SystemThread(name: "fuse-notify") { self.loop() }
        state.withLock { $0.thread = thread }
    }

    /// Ends the thread; what is still queued is dropped, for there is no mount any more.
    func stop() {
        let thread = state.withLock { state in
            state.isClosed = true
            state.items = []
            state.session = nil
            return state.thread.take()
        }
        wakeup.signal()
        thread?.join()
    }

    private func loop() {
        while true {
            let (items, session) = state.withLock { state in
                let items = state.items
                state.items = []
                return (items, state.session)
            }
            guard let session else { return }
            for item in items { send(item, to: session.raw) }
            if items.isEmpty { wakeup.wait() }
        }
    }

    private func send(_ item: Item, to session: OpaquePointer) {
        switch item {
        case .inode(let node, let offset, let length):
            fuse_lowlevel_notify_inval_inode(
                session, node.rawValue, off_t(offset), off_t(length))
        case .entry(let parent, let name):
            name.withCString {
                _ = fuse_lowlevel_notify_inval_entry(session, parent.rawValue, $0, $1)
            }
        case .deleted(let parent, let child, let name):
            name.withCString {
                _ = fuse_lowlevel_notify_delete(session, parent.rawValue, child.rawValue, $0, $1)
            }
        case .work(let body): body()
        }
    }
}

extension FileName {
    /// - Parameter body: gets the name terminated by NUL, and its length without it.
    fileprivate func withCString(_ body: (UnsafePointer<CChar>, Int) -> Void) {
        (bytes + [0]).withUnsafeBufferPointer { buffer in
            buffer.withMemoryRebound(to: CChar.self) { characters in
                guard let start = characters.baseAddress else { return }
                body(start, bytes.count)
            }
        }
    }
}
