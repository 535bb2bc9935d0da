import FuseKit
import Glibc
package import Logging
package import RecordModel
package import RecordStore
package import RecordTree
import Synchronization

/// The configuration of a mount of a store.
package struct MountConfiguration: Sendable {
    package var mountpoint: String
    package var stateDirectory: String
    package var readOnly = false
    package var allowOther = false
    /// Indicates whether the mount has extended attributes. Without them the kernel learns at the
    /// first call that there are none, and does not ask again.
    package var extendedAttributes = false
    /// Indicates whether the mountpoint may contain files, which the mount then hides.
    package var hidesFiles = false
    /// Further `-o` options for libfuse.
    package var options: [String] = []
    /// The time within which a deleted name may return as the same record.
    package var grace: Duration = .seconds(3)
    /// The limit for downloaded files that the server has too, in bytes. Nil for no limit.
    package var cacheBytes: Int64?
    /// The author of what is saved on the mount. Nil for none but the mount.
    package var author: AuthorName?
    /// Receives refused saves that the store does not report: `Tree.Options.refused`.
    package var refused: @Sendable (_ path: String, _ reason: String) -> Void = { _, _ in }
    package var threads = MountConfiguration.defaultThreads
    /// The words that start this program as a `ConnectionGuard`.
    package var guardProgram: [String] = []

    /// The number of threads that answer the kernel when nothing else is set.
    package static var defaultThreads: Int { Session.defaultThreads }

    package init(mountpoint: String, stateDirectory: String) {
        self.mountpoint = mountpoint
        self.stateDirectory = stateDirectory
    }
}

/// A store as a mounted file system, from mount to unmount.
package enum MountDaemon {
    /// Mounts, calls `ready` when the kernel has the mount, and serves until the file system is
    /// unmounted, detached or told to `stop`; the last two also while it has users. The store stays
    /// open. All waiting work is final when this returns.
    /// - Parameters:
    ///   - view: answers for the mount while it runs.
    ///   - server: the state of the exchange with the record server, which `.recordfs` shows, and
    ///     the requests to it.
    package static func run(
        _ configuration: MountConfiguration, store: RecordStore, stop: StopSignal,
        view: MountView, server: ServerBridge, logger: Logger,
        ready: @escaping @Sendable () -> Void
    ) throws(RecordError) {
        var options = Tree.Options(
            owner: getuid(), group: getgid(), isReadOnly: configuration.readOnly,
            grace: configuration.grace)
        options.limits = store.options.limits
        options.allowsOthers = configuration.allowOther
        options.server = server
        options.cacheBytes = configuration.cacheBytes
        options.fetcher = server.fetcher
        options.report = { logger.notice("\($0)") }
        options.refused = configuration.refused
        let tree = Tree(store: store, options: options)
        try tree.start()
        let session = Session(
            fileSystem: RecordFileSystem(
                tree: tree, hasExtendedAttributes: configuration.extendedAttributes, ready: ready),
            mountpoint: configuration.mountpoint, options: mountOptions(configuration),
            guardProgram: configuration.guardProgram,
            readerBegins: { AnsweringThreads.enter() }, readerEnds: { AnsweringThreads.leave() })
        let messenger = KernelMessenger(
            tree: tree, notifier: session.notifier, mountpoint: configuration.mountpoint)
        tree.setNotifier({ messenger.send($0) }, deliver: { messenger.deliver($0) })
        store.observe { changes in
            // This thread does not wait for the kernel. The caller of a change of the mount itself
            // may hold a lock that the kernel needs, and the sync engine does not wait for any
            // program on the mount.
            messenger.send(tree.storeChanged(changes))
        }
        do throws(MountError) {
            try session.mount()
        } catch {
            throw RecordError(.ioFailure, "\(error)")
        }
        view.follow(
            MountView.Source(
                unsavedPaths: { tree.unsavedPaths() },
                waitUntilHeard: { messenger.waitUntilHeard(.seconds(10)) },
                outlastGrace: { () throws(RecordError) in try tree.outlastGrace() }))
        let maintenance = MaintenanceThreads(tree: tree, logger: logger)
        let ending = MountEnding(
            session, request: stop, collect: { messenger.collectPages($0) }, logger: logger)
        let outcome = Result { () throws(MountError) in
            try maintenance.start()
            try ending.start()
            try session.run(threads: configuration.threads)
        }
        ending.stop()
        maintenance.stop()
        view.follow(nil)
        if case .failure(let error) = outcome { throw RecordError(.ioFailure, "\(error)") }
        try tree.finish()
    }

    private static func mountOptions(_ configuration: MountConfiguration) -> MountOptions {
        var options = MountOptions(source: configuration.stateDirectory, subtype: "recordfs")
        options.allowOther = configuration.allowOther
        // For a mount of one user the tree makes all checks (`Tree.checkAccess`): the kernel would
        // ask for the attributes of the directory before each change of it.
        options.checksPermissions = configuration.allowOther
        options.isReadOnly = configuration.readOnly
        options.hidesFiles = configuration.hidesFiles
        options.extra = configuration.options
        return options
    }

    /// Runs a program that was started with `MountConfiguration.guardProgram` and, after it,
    /// `words`. Returns at once for other words.
    package static func guardConnection(_ words: [String]) {
        ConnectionGuard(words)?.watch()
    }

    /// Returns whether the daemon of a mount has ended without unmounting.
    package static func isStale(mountpoint: String) -> Bool { MountPoint.isStale(mountpoint) }

    package static func unmount(mountpoint: String, lazy: Bool) throws(RecordError) {
        do throws(MountError) {
            try MountPoint.unmount(mountpoint, lazy: lazy)
        } catch {
            throw RecordError(.ioFailure, "\(error)")
        }
    }
}
