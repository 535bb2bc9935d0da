import RecordModel
package import RecordWire

/// A value to compare with.
struct QueryItem: Hashable, Sendable {
    let value: WireValue
    /// The bytes that are compared, byte by byte. The index key is their beginning.
    let bytes: [UInt8]
    /// The zone of a reference, if the request gives one.
    let zone: ZoneIdentifier?

    /// Makes an item of a value. Returns nil for assets and lists.
    init?(_ value: WireValue) {
        guard let bytes = value.comparedBytes else { return nil }
        self.value = value
        self.bytes = bytes
        zone = if case .reference(let reference) = value { reference.zone } else { nil }
    }

    var key: [UInt8] { Array(bytes.prefix(IndexKey.maximumBytes)) }

    /// Returns whether both are equal. `home` is the zone of the record that has the other value.
    func equals(_ other: WireValue, home: ZoneKey?) -> Bool {
        guard other.comparedBytes == bytes else { return false }
        guard case .reference(let reference) = other, let home else { return true }
        return Self.zone(reference.zone, home) == Self.zone(zone, home)
    }

    private static func zone(_ zone: ZoneIdentifier?, _ home: ZoneKey) -> ZoneIdentifier {
        guard let zone else {
            return ZoneIdentifier(zone: home.zone, owner: home.database.owner)
        }
        let isHome = zone.owner == nil || zone.owner == .defaultOwner
        return ZoneIdentifier(
            zone: zone.zone, owner: isHome ? home.database.owner : zone.owner)
    }
}

extension WireValue {
    /// The bytes for comparison. They compare byte by byte as values of one type do, and are not
    /// cut, unlike index keys.
    var comparedBytes: [UInt8]? {
        switch self {
        case .string(let text): text.utf8
        case .bytes(let bytes): bytes
        case .reference(let reference): reference.name.bytes
        default: IndexKey.encode(self)
        }
    }

    /// The elements of a list, or the value itself.
    package var elements: [WireValue] {
        if case .list(let elements) = self { elements } else { [self] }
    }
}

/// The value of a filter, with the type of its field.
enum FilterValue: Hashable, Sendable {
    case null
    case one(QueryItem)
    case many([QueryItem])
    case prefix([UInt8])
    case words(Set<[UInt8]>)
    indirect case circle(center: Location, metres: Double)
}

/// Reads the values of filters as the types of their fields.
struct OperandReader {
    /// The type of the field.
    let type: FieldType
    /// The place of the filter, for messages.
    let place: String

    /// The most values of an IN or of a list.
    static let maximumValues = 1_000

    private var element: FieldType {
        if case .list(let element) = type { element } else { type }
    }

    func operand(
        _ kind: QueryTestKind, _ value: WireValue?, distance: Double?
    ) throws(ServerError) -> FilterValue {
        guard let value else {
            guard kind == .equals else { throw error("needs a value") }
            return .null
        }
        switch kind {
        case .equals:
            guard case .list = type else { return .one(try item(value)) }
            return .many(try items(value))
        case .oneOf, .containsAny, .containsAll: return .many(try items(value))
        case .less, .lessOrEquals, .greater, .greaterOrEquals, .contains:
            return .one(try item(value))
        case .beginsWith, .memberBeginsWith: return .prefix(try item(value).bytes)
        case .near:
            guard case .location(let center) = try item(value).value else {
                throw error("takes a LOCATION")
            }
            guard let distance, distance >= 0 else { throw error("needs a distance in metres") }
            return .circle(center: center, metres: distance)
        case .allWords, .anyWord:
            for element in value.elements {
                guard case .string = element else { throw error("takes a STRING") }
            }
            return .words(Words.of(value.elements))
        }
    }

    private func items(_ value: WireValue) throws(ServerError) -> [QueryItem] {
        guard case .list(let values) = value else { throw error("takes a list of values") }
        guard values.count <= Self.maximumValues else {
            throw ServerError(
                .limitExceeded,
                "\(place): \(values.count) values; a filter takes at most \(Self.maximumValues).")
        }
        var items: [QueryItem] = []
        for value in values { items.append(try item(value)) }
        return items
    }

    private func item(_ value: WireValue) throws(ServerError) -> QueryItem {
        guard let fitted = fitted(value), let item = QueryItem(fitted) else {
            throw error("the field takes values of type \(element.name)")
        }
        return item
    }

    /// Returns the value as one of the field's element type, when it can stand for one.
    private func fitted(_ value: WireValue) -> WireValue? {
        switch (element, value) {
        case (.string, .string), (.int64, .int64), (.int64, .double), (.double, .int64),
            (.double, .double), (.timestamp, .timestamp), (.bytes, .bytes),
            (.location, .location), (.reference, .reference):
            value
        case (.timestamp, .int64(let number)): .timestamp(milliseconds: number)
        case (.timestamp, .double(let number)):
            Int64(exactly: number.rounded()).map { .timestamp(milliseconds: $0) }
        case (.bytes, .string(let text)): Base64.decode(text.utf8).map { .bytes($0) }
        case (.reference, .string(let text)):
            .reference(WireReference(name: RecordName(bytes: text.utf8)))
        default: nil
        }
    }

    private func error(_ problem: String) -> ServerError {
        ServerError(.badRequest, "\(place): \(problem).")
    }
}
