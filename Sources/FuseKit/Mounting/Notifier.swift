import CFuse3
import Glibc
import Synchronization

/// Notifies the kernel of cached things that are no longer valid.
///
/// Requests are queued and sent in their order from the notifier's own thread, because the kernel
/// may make a notification wait for running calls on the same directory or file. Therefore callers
/// are never blocked and may hold any lock. Queue a request after the commit that makes the change
/// visible. A notification about something that the kernel has not cached is not an error.
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

    /// Guards the queue and the state of its thread.
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

    /// Makes the kernel ask again for a name, also for one that it remembers as missing.
    package func invalidateEntry(parent: NodeID, name: FileName) {
        enqueue(.entry(parent: parent, name: name))
    }

    /// Notes that a name is removed: like `invalidateEntry`, but users of `child` also see it as
    /// deleted (inotify watches of it end).
    package func delete(parent: NodeID, child: NodeID, name: FileName) {
        enqueue(.deleted(parent: parent, child: child, name: name))
    }

    /// Runs `work` after everything queued before. It may make calls through the mount.
    package func perform(_ work: @escaping @Sendable () -> Void) {
        enqueue(.work(work))
    }

    /// Indicates that queued requests are no longer processed.
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

    /// Ends the thread. Requests still in the queue are dropped, because there is no mount any
    /// more.
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
    /// - Parameter body: gets the name with a NUL at its end, and the length without it.
    fileprivate func withCString(_ body: (UnsafePointer<CChar>, Int) -> Void) {
        (bytes + [0]).withUnsafeBufferPointer { buffer in
            buffer.withMemoryRebound(to: CChar.self) { characters in
                guard let start = characters.baseAddress else { return }
                body(start, bytes.count)
            }
        }
    }
}
