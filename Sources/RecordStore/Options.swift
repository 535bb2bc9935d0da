package import Logging
package import RecordModel

/// How a store is opened.
package struct StoreOptions: Sendable {
    package var clock: any WallClock
    package var limits: RecordLimits
    /// How long a delete waits for the record to come back.
    package var grace: Duration
    package var logger: Logger
    /// Refuses every write, also of the one who holds the lock.
    package var readOnly: Bool
    /// Stands for the store in the stamps of its edits; nil: the store's own, made at random.
    package var device: UInt64?
    /// Of the disk space that is set aside, at most. The usual 20 MiB hold what a full log has to move,
    /// and some thousand deletes.
    package var reserveBytes: Int64 = 20 << 20
    package var retention = Retention()

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
