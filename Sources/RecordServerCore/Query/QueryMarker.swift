import RecordModel
import RecordWire

/// The continuation marker: the beginning of the next page of one query of one caller.
///
/// It is sealed, and valid only for the query, database, zone and caller that it was made for. It
/// holds a place in the order of the query and no snapshot. Records that do not change appear once,
/// whatever happens to other records between the pages.
struct QueryMarker {
    private static let version: UInt8 = 1
    private static let identityBytes = 16

    /// Returns the identity of a query without its page: the caller, the database and the question.
    static func identity(
        _ request: QueryRequest, _ context: OperationContext
    ) -> [UInt8] {
        var digest = QueryDigest()
        digest.add(context.container.container.utf8)
        digest.add(context.container.environment.rawValue)
        digest.add(context.scope.rawValue)
        digest.add(context.caller.user?.name.bytes)
        if let zone = request.zone {
            digest.add(zone.zone.bytes)
            digest.add(zone.owner == .defaultOwner ? nil : zone.owner?.bytes)
        } else {
            digest.add(request.zoneWide ? "zoneWide" : "default")
        }
        digest.add(request.query)
        return Array(digest.finish().prefix(identityBytes))
    }

    static func seal(_ place: QueryPosition, identity: [UInt8], _ seal: Seal) -> Text {
        var bytes = [version] + identity
        append(place.name.map(\.bytes), &bytes)
        append(place.zone, &bytes)
        bytes.append(UInt8(place.keys.count))
        for key in place.keys { append(key, &bytes) }
        return seal.seal(bytes, for: .continuation)
    }

    /// Opens a marker. Errors: BAD_REQUEST when this server did not make it for this query.
    static func open(
        _ text: Text, identity: [UInt8], order: QueryOrder, _ seal: Seal
    ) throws(ServerError) -> QueryPosition {
        guard let payload = seal.open(text, for: .continuation),
            let place = place(payload, identity), order.has(place)
        else {
            throw ServerError(
                .badRequest,
                "continuationMarker: it is not of this query by this user. Ask for the first page "
                    + "again.")
        }
        return place
    }

    private static func place(_ payload: [UInt8], _ identity: [UInt8]) -> QueryPosition? {
        var rest = payload[...]
        guard rest.popFirst() == version, rest.starts(with: identity) else { return nil }
        rest = rest.dropFirst(identity.count)
        guard let name = take(&rest), let zone = take(&rest), let zone, let count = rest.popFirst()
        else { return nil }
        var keys: [[UInt8]?] = []
        for _ in 0..<count {
            guard let key = take(&rest) else { return nil }
            keys.append(key)
        }
        guard rest.isEmpty else { return nil }
        return QueryPosition(keys: keys, name: name.map { RecordName(bytes: $0) }, zone: zone)
    }

    /// Appends a value after its length plus one in two bytes; 0 stands for nil.
    private static func append(_ value: [UInt8]?, _ bytes: inout [UInt8]) {
        let length = value.map { $0.count + 1 } ?? 0
        bytes += [UInt8(truncatingIfNeeded: length >> 8), UInt8(truncatingIfNeeded: length)]
        bytes += value ?? []
    }

    private static func take(_ rest: inout ArraySlice<UInt8>) -> [UInt8]?? {
        guard let high = rest.popFirst(), let low = rest.popFirst() else { return .none }
        let length = Int(high) << 8 | Int(low)
        guard length > 0 else { return .some(nil) }
        guard rest.count >= length - 1 else { return .none }
        let value = Array(rest.prefix(length - 1))
        rest = rest.dropFirst(length - 1)
        return .some(value)
    }
}

/// A hash over values that keeps them apart, so that no value runs into the next.
struct QueryDigest {
    private var hash = SHA256()

    mutating func add(_ bytes: [UInt8]?) {
        add(count: bytes?.count ?? -1)
        hash.update(bytes ?? [])
    }

    mutating func add(_ text: String) { add(Array(text.utf8)) }

    private mutating func add(count: Int) {
        let bits = UInt64(bitPattern: Int64(count))
        hash.update((0..<8).map { UInt8(truncatingIfNeeded: bits >> (8 * UInt64($0))) })
    }

    mutating func finish() -> [UInt8] { Array(hash.finalize()) }

    mutating func add(_ query: WireQuery) {
        add(query.recordType.bytes)
        add(count: query.filters.count)
        for filter in query.filters {
            add(filter.comparator.rawValue)
            add(filter.field)
            add(filter.value.value)
            add(filter.distance.map { IndexKey.double($0) })
        }
        add(count: query.sorts.count)
        for sort in query.sorts {
            add(sort.field)
            add(sort.ascending ? "ascending" : "descending")
            add(sort.relativeLocation.map { .location($0) })
        }
    }

    private mutating func add(_ field: QueryField) {
        switch field {
        case .field(let name): add(name.bytes)
        case .system(let system): add(system.schemaName)
        }
    }

    private mutating func add(_ value: WireValue?) {
        switch value {
        case nil: add(nil as [UInt8]?)
        case .list(let elements):
            add(count: elements.count)
            for element in elements { add(element) }
        case .reference(let reference):
            add(reference.name.bytes)
            add(reference.zone?.zone.bytes)
            add(reference.zone?.owner?.bytes)
        case let value?: add(value.comparedBytes)
        }
    }
}
