package import Hummingbird
package import RecordModel

/// Adds `/assets/up/{token}` and `/assets/down/{token}/{name}`, which need no other credential
/// than the sealed token.
package func addAssetRoutes<Context: RequestContext>(
    to router: Router<Context>, service: RecordService, clock: any WallClock
) {}
