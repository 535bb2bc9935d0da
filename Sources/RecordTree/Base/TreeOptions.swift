package import RecordModel
package import RecordStore

/// The settings of a tree, which stay the same while it exists.
package struct TreeOptions: Sendable {
    package var owner: UInt32
    package var group: UInt32
    package var isReadOnly: Bool
    /// Indicates whether users other than the owner can use the mount.
    package var allowsOthers = false
    package var limits: RecordLimits
    package var grace: Duration
    package var clock: any WallClock
    /// Downloads assets that are not on this machine.
    package var fetcher: any AssetFetcher
    package var server = ServerBridge.none
    package var programs = ProgramTable.system
    /// The limit for downloaded files that the server has too, in bytes. Nil for no limit.
    package var cacheBytes: Int64?
    /// Receives reports for the log about the tree's own work.
    package var report: @Sendable (String) -> Void = { _ in }
    /// Receives refused saves that the store does not report, with the path below the mount:
    /// many programs ignore the result of `close`.
    package var refused: @Sendable (_ path: String, _ reason: String) -> Void = { _, _ in }

    package init(
        owner: UInt32, group: UInt32, isReadOnly: Bool = false,
        limits: RecordLimits = .standard, grace: Duration = .seconds(3),
        clock: any WallClock = SystemClock(), fetcher: any AssetFetcher = NoAssetFetcher()
    ) {
        self.owner = owner
        self.group = group
        self.isReadOnly = isReadOnly
        self.limits = limits
        self.grace = grace
        self.clock = clock
        self.fetcher = fetcher
    }

    var now: Timestamp { clock.now }
}
