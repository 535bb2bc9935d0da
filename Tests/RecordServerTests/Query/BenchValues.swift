import RecordModel
import RecordWire
import TestSupport

/// Draws records and values from small pools, so that many are equal and many are missing.
struct BenchValues {
    var generator: SeededRandom
    init(seed: UInt64) { generator = SeededRandom(seed: seed) }

    static let fieldNames = ["s", "i", "d", "n", "t", "b", "l", "r", "ls", "li", "lr"]

    private static let long = String(repeating: "long ", count: 60)
    static let strings = [
        "", "a", "A", "ab", "a%", "a_", "100%", "'; DROP TABLE records; --", "\\", "*?[a]", "b c",
        "Äpfel und Birnen", "apfel", "東京 tokyo", "emoji 😀", long, long + "x", long + "y",
        "under_score", "a\u{0301}",
    ]
    static let integers: [Int64] = [
        .min, -9_007_199_254_740_993, -7, -1, 0, 1, 2, 3, 9_007_199_254_740_992,
        9_007_199_254_740_993, .max - 1, .max,
    ]
    static let doubles: [Double] = [-1e300, -2.5, -0.0, 0, 0.1, 1, 1.5, 2, 9.3e18, 1e300]
    static let names = ["r-1", "r-2", "r-10", "r-%", "x"]
    static let users = ["_u1", "_u2", "_u3"]
    static let places: [(Double, Double)] = [
        (52.52, 13.405), (52.4, 13.1), (48.137, 11.575), (0, 179.9), (0, -179.9), (90, 0),
        (-33.87, 151.21),
    ]

    mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: 0..<values.count, using: &generator)]
    }

    mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &generator) == 0 }

    mutating func scalar(_ field: String) -> WireValue {
        switch field {
        case "s", "ls": .string(Text(pick(Self.strings)))
        case "i", "li": .int64(pick(Self.integers))
        case "d": .double(pick(Self.doubles))
        case "n":
            chance(2) ? .int64(pick(Self.integers)) : .double(pick(Self.doubles))
        case "t": .timestamp(milliseconds: Int64.random(in: -3...3, using: &generator) * 1_000)
        case "b": .bytes(Array(pick(Self.strings).utf8))
        case "l": .location(location())
        default: .reference(WireReference(name: RecordName(pick(Self.names))))
        }
    }

    mutating func location() -> Location {
        let place = pick(Self.places)
        guard let location = Location(latitude: place.0, longitude: place.1) else {
            preconditionFailure("every place is on Earth")
        }
        return location
    }

    mutating func value(_ field: String) -> WireValue {
        guard field.count == 2 else { return scalar(field) }
        return .list((0..<Int.random(in: 0...3, using: &generator)).map { _ in scalar(field) })
    }

    mutating func records(_ count: Int, prefix: String = "n") -> [BenchRecord] {
        (0..<count).map { number in
            var values: [String: WireValue] = [:]
            for field in Self.fieldNames where !chance(5) { values[field] = value(field) }
            return BenchRecord(
                name: "\(prefix)\(number)", values: values,
                created: Int64.random(in: 0...5, using: &generator) * 1_000,
                modified: Int64.random(in: 0...9, using: &generator) * 500,
                creator: pick(Self.users), modifier: pick(Self.users),
                parent: chance(3) ? nil : pick(Self.names),
                share: chance(2) ? nil : pick(["s1", "s2"]))
        }
    }
}
