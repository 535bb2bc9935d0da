import RecordModel
import RecordWire

/// Finds the records of one zone for one page of a query.
///
/// Whichever way it takes, the order of the answer is the same, and where a page ended is a place
/// in that order: every page can be found in another way than the one before.
struct ZoneSearch {
    enum Outcome {
        /// Everything was looked at, or what was not is for later pages.
        case finished
        /// Everything up to here was looked at.
        case paused(QueryPosition)
    }

    let evaluator: QueryEvaluator
    let visibility: RecordVisibility
    let reader: any StorageReader
    let limits: QueryLimits
    /// The number of the zone among those of the query.
    let index: Int
    /// How many records it may look at before it pauses.
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
            // Scans go on after this name; the record of that name in this zone may be to come.
            try examine(try reader.records(zone, [name]).values, &selection)
        }
        if try searchCandidates(&selection) { return .finished }
        examined = 0
        return try search(prefix: [], resume: selection.marker, &selection)
    }

    /// Takes those in that the query is for.
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

    /// Those that the query looks at; values take many times the bytes of their text.
    private func fields(
        of record: StoredRecord, _ selection: QuerySelection
    ) throws(ServerError) -> [WireField] {
        guard evaluator.needsFields else { return [] }
        try memory?.add(selection.bytes + FieldsCodec.decodedBytes(record.fields))
        return try FieldsCodec.decode(record.fields)
    }

    var isExhausted: Bool { examined >= budget }
}

/// How many records to ask for at once: more each time, as long as they are small.
struct BatchSize {
    /// A batch ends with the record with which it has so many bytes.
    static let maximumBytes = 1 << 20
    static let maximumCount = 256

    private(set) var count: Int
    private let most: Int

    init(_ most: Int = BatchSize.maximumCount) {
        self.most = most
        count = min(32, most)
    }

    /// Whether there may be more than these, which are what there was of `limit`.
    mutating func note(_ records: some Collection<StoredRecord>, of limit: Int) -> Bool {
        count = min(count * 4, most)
        return records.count == limit
            || records.reduce(0) { $0 + $1.bytes } >= Self.maximumBytes
    }
}
