import RecordModel
import RecordWire

/// Finds the records of one zone for one page of a query.
///
/// There are several ways to search, but the order of the answer is the same in all, and the end of
/// a page is a place in that order. Every page can therefore be found in another way than the one
/// before.
struct ZoneSearch {
    enum Outcome {
        /// The search looked at everything, or the rest is for later pages.
        case finished
        /// The search looked at everything up to this place.
        case paused(QueryPosition)
    }

    let evaluator: QueryEvaluator
    let visibility: RecordVisibility
    let reader: any StorageReader
    let limits: QueryLimits
    /// The number of the zone among those of the query.
    let index: Int
    /// The most records that the search may look at before it pauses.
    let budget: Int
    let memory: MemoryHold?
    var examined = 0

    var access: ZoneAccess { visibility.access }
    var zone: ZoneHandle { access.zone.handle }
    var order: QueryOrder { evaluator.order }
    var zoneBytes: [UInt8] { access.zone.key.orderBytes }

    init(
        evaluator: QueryEvaluator, visibility: RecordVisibility, reader: any StorageReader,
        limits: QueryLimits, index: Int, budget: Int, memory: MemoryHold? = nil
    ) {
        self.evaluator = evaluator
        self.visibility = visibility
        self.reader = reader
        self.limits = limits
        self.index = index
        self.budget = budget
        self.memory = memory
    }

    mutating func run(_ selection: inout QuerySelection) throws(ServerError) -> Outcome {
        guard access.exists else { return .finished }
        if let name = selection.marker?.name, selection.marker?.zone != zoneBytes {
            // Scans continue after this name, but the record of that name in this zone may still be
            // missing.
            try examine(try reader.records(zone, [name]).values, &selection)
        }
        if try searchCandidates(&selection) { return .finished }
        examined = 0
        return try search(prefix: [], resume: selection.marker, &selection)
    }

    /// Adds the records that match the query.
    mutating func examine(
        _ records: some Sequence<StoredRecord>, _ selection: inout QuerySelection
    ) throws(ServerError) {
        for record in records { try examine(record, &selection) }
    }

    mutating func examine(
        _ record: StoredRecord, _ selection: inout QuerySelection
    ) throws(ServerError) {
        examined += 1
        guard record.type == evaluator.type, visibility.shows(record) else { return }
        let fields = try fields(of: record, selection)
        guard evaluator.matches(access.shown(record), fields: fields, zone: access.zone.key) else {
            return
        }
        selection.insert(
            QuerySelection.Item(
                position: order.position(record, fields, zone: zoneBytes), record: record,
                zone: index))
    }

    /// Returns the fields that the query reads. Values take many times the bytes of their text.
    private func fields(
        of record: StoredRecord, _ selection: QuerySelection
    ) throws(ServerError) -> [WireField] {
        guard evaluator.needsFields else { return [] }
        try memory?.add(selection.bytes + FieldsCodec.decodedBytes(record.fields))
        return try FieldsCodec.decode(record.fields)
    }

    var isExhausted: Bool { examined >= budget }
}

/// The number of records to fetch at once. It grows each time, as long as the records are small.
struct BatchSize {
    /// The size at which a batch ends, with the record that reaches it.
    static let maximumBytes = 1 << 20
    static let maximumCount = 256

    private(set) var count: Int
    private let most: Int

    init(_ most: Int = BatchSize.maximumCount) {
        self.most = most
        count = min(32, most)
    }

    /// Returns whether there may be more records than these, which were found with `limit`.
    mutating func note(_ records: some Collection<StoredRecord>, of limit: Int) -> Bool {
        count = min(count * 4, most)
        return records.count == limit
            || records.reduce(0) { $0 + $1.bytes } >= Self.maximumBytes
    }
}
