import RecordModel
import RecordWire

extension ZoneSearch {
    /// The most indexes that are read side by side.
    private static let maximumCursors = 32

    /// Looks at the records whose keys are `prefix` in the order of their names, after `name`.
    mutating func searchByName(
        prefix: [[UInt8]?], after name: RecordName?, _ selection: inout QuerySelection
    ) throws(ServerError) -> Outcome {
        guard let (field, use) = nameOrderUse(prefix), use.ranges.count <= Self.maximumCursors
        else { return try scanNames(prefix, after: name, &selection) }
        var cursors = use.ranges.map { range in
            var scan = self.scan(field, use.kind, range, ascending: order.isAscending)
            if let name { scan.after = (range.lower, name) }
            return Cursor(scan: scan, batch: BatchSize(max(8, 256 / use.ranges.count)))
        }
        while true {
            var next: Int?
            for index in cursors.indices {
                guard let name = try cursors[index].name(reader, zone) else { continue }
                guard let best = next, let other = cursors[best].first?.name else {
                    next = index
                    continue
                }
                if name != other, order.isAscending == (name < other) { next = index }
            }
            guard let next, let record = cursors[next].first else { return .finished }
            cursors[next].advance()
            let outcome = try visit(record, prefix, &selection)
            if let outcome { return outcome }
        }
    }

    private mutating func scanNames(
        _ prefix: [[UInt8]?], after name: RecordName?, _ selection: inout QuerySelection
    ) throws(ServerError) -> Outcome {
        var batch = BatchSize()
        var after = name
        while true {
            let limit = batch.count
            let found = try reader.records(
                zone, type: evaluator.type, after: after, descending: !order.isAscending,
                limit: limit, maximumBytes: BatchSize.maximumBytes)
            let isMore = batch.note(found, of: limit)
            for record in found {
                let outcome = try visit(record, prefix, &selection)
                if let outcome { return outcome }
            }
            guard isMore, let last = found.last else { return .finished }
            after = last.name
        }
    }

    /// Looks at one record in the order of the query. Returns nil when the search continues.
    mutating func visit(
        _ record: StoredRecord, _ prefix: [[UInt8]?], _ selection: inout QuerySelection
    ) throws(ServerError) -> Outcome? {
        // When names are the last key, the prefix does not have it.
        let keys = prefix.count < order.keys.count ? prefix + [record.name.bytes] : prefix
        let place = QueryPosition(keys: keys, name: record.name, zone: zoneBytes)
        if selection.isFull(at: place) { return .finished }
        try examine(record, &selection)
        return isExhausted ? .paused(place) : nil
    }

    /// A place in one key of an index.
    private struct Cursor {
        var scan: IndexScan
        var batch: BatchSize
        private var found: ArraySlice<IndexedRecord> = []
        private var isAtEnd = false

        init(scan: IndexScan, batch: BatchSize) {
            self.scan = scan
            self.batch = batch
        }

        var first: StoredRecord? { found.first?.record }

        mutating func advance() { found = found.dropFirst() }

        /// Returns the name of the next record.
        mutating func name(
            _ reader: any StorageReader, _ zone: ZoneHandle
        ) throws(ServerError) -> RecordName? {
            if found.isEmpty, !isAtEnd {
                scan.limit = batch.count
                let entries = try reader.scan(zone, scan)
                isAtEnd = !batch.note(entries.map(\.record), of: scan.limit)
                if let last = entries.last { scan.after = (last.key, last.record.name) }
                found = entries[...]
            }
            return first?.name
        }
    }
}
