package import Hummingbird
package import RecordModel

/// Adds `GET /courier/{secret}`, the long poll of the webcourier URLs, which needs no other
/// credential than the URL (reference §8).
package func addCourierRoutes<Context: RequestContext>(
    to router: Router<Context>, push: PushHub, clock: any WallClock
) {}
