package import Logging
package import RecordModel

/// The options for opening a store.
package struct StoreOptions: Sendable {
    package var clock: any WallClock
    package var limits: RecordLimits
    /// The time for which a deletion waits in case the record comes back.
    package var grace: Duration
    package var logger: Logger
    /// Refuses every write, even from the process that holds the lock.
    package var readOnly: Bool
    /// The number that identifies the store in the stamps of its edits. If nil, the store uses its
    /// own number, which is random.
    package var device: UInt64?
    /// The largest amount of disk space that is set aside. The default of 20 MiB is enough to move
    /// a full log into the database and for some thousand deletions.
    package var reserveBytes: Int64 = 20 << 20
    package var retention = Retention()
    /// The author of what the mount saves. If nil, history says that it was the mount.
    package var mountAuthor: AuthorName?
    /// Returns the program for which this thread changes the store.
    package var caller: @Sendable () -> CallingProgram? = { CallingProgram.current }

    package init(
        clock: any WallClock = SystemClock(), limits: RecordLimits = .standard,
        grace: Duration = .seconds(3), logger: Logger = Logger(label: "recordfs.store"),
        readOnly: Bool = false
    ) {
        self.clock = clock
        self.limits = limits
        self.grace = grace
        self.logger = logger
        self.readOnly = readOnly
    }
}
