/// The links that the processes of one server share besides their storage and their assets.
///
/// A server of one process keeps them in its memory. Losing them with the process does no harm.
package struct ServerLinks: Sendable {
    package let throttles: any Throttles
    package let couriers: any CourierSignals

    package init(throttles: any Throttles, couriers: any CourierSignals) {
        self.throttles = throttles
        self.couriers = couriers
    }

    /// Returns the links for a server of one process.
    package static func inProcess() -> ServerLinks {
        ServerLinks(throttles: LocalThrottles(), couriers: LocalCourierSignals())
    }
}
