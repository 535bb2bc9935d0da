package import Hummingbird

/// Adds `GET /courier/{secret}`, the long poll of the webcourier URLs, which needs no other
/// credential than the URL (reference §8).
package func addCourierRoutes(to router: Router<HTTPContext>, push: PushHub) {}
