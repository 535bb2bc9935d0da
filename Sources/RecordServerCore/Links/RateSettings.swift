/// The limits of token buckets: `burst` at once, `perSecond` in the long run; 0 for no limit.
package struct RateSettings: Sendable, Equatable {
    package struct Bucket: Sendable, Equatable {
        package var perSecond: Double
        package var burst: Double
        package init(perSecond: Double, burst: Double) {
            self.perSecond = perSecond
            self.burst = burst
        }
    }
    /// The limit of each user, over all connections.
    package var user = Bucket(perSecond: 200, burst: 2_000)
    /// The limit of each client address, for requests without a known user.
    package var address = Bucket(perSecond: 200, burst: 2_000)
    /// The limit of each user, for looking up and accepting short GUIDs.
    package var resolve = Bucket(perSecond: 2, burst: 100)

    package init() {}
}
