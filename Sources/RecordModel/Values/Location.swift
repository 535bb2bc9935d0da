/// A place on Earth as the record server keeps it: degrees, metres, metres a second.
package struct Location: Hashable, Sendable {
    /// Degrees north, -90...90.
    package let latitude: Double
    /// Degrees east, -180...180.
    package let longitude: Double
    package var altitude: Double?
    package var horizontalAccuracy: Double?
    package var verticalAccuracy: Double?
    package var course: Double?
    package var speed: Double?
    /// The time of the measurement, in milliseconds since 1970-01-01T00:00:00Z.
    package var timestampMilliseconds: Int64?

    /// Creates a location. Returns nil when a coordinate is out of its range.
    package init?(latitude: Double, longitude: Double) {
        guard (-90...90).contains(latitude), (-180...180).contains(longitude) else { return nil }
        self.latitude = latitude
        self.longitude = longitude
    }
}
