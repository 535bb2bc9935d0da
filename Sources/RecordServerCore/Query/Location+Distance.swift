import RecordModel

#if canImport(Glibc)
import Glibc
#endif

extension Location {
    /// The mean radius of the Earth (IUGG), in metres.
    static let earthRadius = 6_371_008.8

    /// Returns the great-circle distance by the haversine formula, in metres.
    func metres(to other: Location) -> Double {
        let radians = Double.pi / 180
        let latitudes = sin((other.latitude - latitude) * radians / 2)
        let longitudes = sin((other.longitude - longitude) * radians / 2)
        let chord =
            latitudes * latitudes
            + cos(latitude * radians) * cos(other.latitude * radians) * longitudes * longitudes
        return 2 * Self.earthRadius * asin(min(1, chord.squareRoot()))
    }

    /// Returns how many degrees of latitude a distance covers, rounded up.
    static func degrees(metres: Double) -> Double {
        metres / earthRadius * 180 / .pi * 1.000_001 + 1e-9
    }
}
