/// What the processes of one server have in common besides their storage and their assets.
///
/// A server of one process has it in its memory; what is lost there with the process does no harm.
package struct ServerLinks: Sendable {
    package let throttles: any Throttles
    package let couriers: any CourierSignals

    package init(throttles: any Throttles, couriers: any CourierSignals) {
        self.throttles = throttles
        self.couriers = couriers
    }

    /// For a server of one process.
    package static func inProcess() -> ServerLinks {
        ServerLinks(throttles: LocalThrottles(), couriers: LocalCourierSignals())
    }
}
