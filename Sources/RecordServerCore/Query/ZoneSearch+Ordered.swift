import RecordModel
import RecordWire

extension ZoneSearch {
    /// Looks at the records whose first keys are `prefix`, in the order of the query, until the
    /// page is full. `resume` is the end of the last page, if it is among them.
    mutating func search(
        prefix: [[UInt8]?], resume: QueryPosition?, _ selection: inout QuerySelection
    ) throws(ServerError) -> Outcome {
        // This is the place after all of these records.
        if let resume, resume.keys.count == prefix.count, resume.name == nil { return .finished }
        guard prefix.count < order.keys.count,
            order.keys[prefix.count].field != .system(.recordName)
        else { return try searchByName(prefix: prefix, after: resume?.name, &selection) }
        let key = order.keys[prefix.count]
        guard let field = key.index else {
            try searchUnordered(prefix, &selection)
            return .finished
        }
        var isPastNulls = false
        var isPastValues = false
        if let resume {
            let isAtNull = resume.keys[prefix.count] == nil
            (isPastNulls, isPastValues) = (
                !isAtNull && key.isAscending, isAtNull && !key.isAscending
            )
        }
        for isNullTurn in [key.isAscending, !key.isAscending] {
            let outcome: Outcome
            if isNullTurn {
                if isPastNulls { continue }
                outcome = try searchNulls(field, prefix, resume, &selection)
            } else {
                if isPastValues { continue }
                outcome = try searchValues(field, prefix, resume, &selection)
            }
            guard case .finished = outcome else { return outcome }
        }
        return .finished
    }

    /// Looks at the records without a value of the next key.
    private mutating func searchNulls(
        _ field: FieldName, _ prefix: [[UInt8]?], _ resume: QueryPosition?,
        _ selection: inout QuerySelection
    ) throws(ServerError) -> Outcome {
        let prefix = prefix + [nil]
        if isNeverNull(order.keys[prefix.count - 1].field) { return .finished }
        if let resume, resume.keys[prefix.count - 1] == nil {
            return try search(prefix: prefix, resume: resume, &selection)
        }
        if selection.isFull(before: prefix) { return .finished }
        // No index has them, but their number is known.
        guard try reader.countUnindexed(zone, type: evaluator.type, field: field) > 0 else {
            return .finished
        }
        return try search(prefix: prefix, resume: nil, &selection)
    }

    /// Returns the place after all records with these keys.
    private func end(of keys: [[UInt8]?]) -> QueryPosition {
        QueryPosition(keys: keys, name: nil, zone: zoneBytes)
    }

    private func isNeverNull(_ field: QueryField) -> Bool {
        switch field {
        case .system(let system): system != .parent && system != .share
        case .field: evaluator.tests.contains { $0.field == field && $0.needsValue }
        }
    }

    /// Goes through the index of a key. For the last key, the order of the index is that of the
    /// query. Before that, records with equal keys are looked at together: all of them, or in the
    /// order of the next key when there are many.
    private mutating func searchValues(
        _ field: FieldName, _ prefix: [[UInt8]?], _ resume: QueryPosition?,
        _ selection: inout QuerySelection
    ) throws(ServerError) -> Outcome {
        let isLast = prefix.count + 1 == order.keys.count
        var scan = valueScan(field, prefix, resume)
        var group: Group?
        var batch = BatchSize()
        while true {
            scan.limit = batch.count
            let found = try reader.scan(zone, scan)
            let isMore = batch.note(found.map(\.record), of: scan.limit)
            for entry in found {
                let outcome =
                    isLast
                    ? try visit(entry.record, prefix + [entry.key], &selection)
                    : try collect(entry, prefix, &group, &selection)
                if let outcome { return outcome }
            }
            guard isMore, let last = found.last else { return .finished }
            scan.after = (last.key, last.record.name)
            guard let large = group, large.count > min(limits.group, budget / 2) else { continue }
            let keys = prefix + [large.key]
            let inside = resume.flatMap { $0.keys.starts(with: keys) ? $0 : nil }
            let outcome = try search(prefix: keys, resume: inside, &selection)
            guard case .finished = outcome, !selection.isFull(at: end(of: keys)) else {
                return outcome
            }
            scan.after = nil
            scan.start(at: large.key, isPast: true)
            group = nil
        }
    }

    /// The records with one value of a key, as far as they were looked at.
    private struct Group {
        let key: [UInt8]
        var count: Int
    }

    /// Adds one record to a group. Returns an outcome when the search ends with the group before,
    /// otherwise nil.
    private mutating func collect(
        _ entry: IndexedRecord, _ prefix: [[UInt8]?], _ group: inout Group?,
        _ selection: inout QuerySelection
    ) throws(ServerError) -> Outcome? {
        if let known = group, known.key != entry.key {
            let end = end(of: prefix + [known.key])
            if selection.isFull(at: end) { return .finished }
            if isExhausted { return .paused(end) }
            group = nil
        }
        group = Group(key: entry.key, count: (group?.count ?? 0) + 1)
        try examine(entry.record, &selection)
        return nil
    }

    /// Returns the scan from the end of the last page, within the bounds that the filters of the
    /// field set.
    private func valueScan(
        _ field: FieldName, _ prefix: [[UInt8]?], _ resume: QueryPosition?
    ) -> IndexScan {
        let isLast = prefix.count + 1 == order.keys.count
        var scan = self.scan(
            field, .value, range(field), ascending: order.keys[prefix.count].isAscending)
        guard let resume, let key = resume.keys[prefix.count] else { return scan }
        if isLast, let name = resume.name {
            scan.after = (key, name)
        } else {
            let isPast = resume.keys.count == prefix.count + 1 && resume.name == nil
            scan.start(at: key, isPast: isPast)
        }
        return scan
    }

    /// Returns the part of an index of values that the filters of its field leave.
    private func range(_ field: FieldName) -> IndexUse.Range {
        var range = IndexUse.Range()
        for test in evaluator.tests where test.indexName == field {
            guard let use = test.indexUse, use.kind == .value, let first = use.ranges.first,
                let last = use.ranges.last
            else { continue }
            if range.lower.lexicographicallyPrecedes(first.lower) { range.lower = first.lower }
            guard let upper = last.upper else { continue }
            if range.upper.map({ upper.lexicographicallyPrecedes($0) }) ?? true {
                range.upper = upper
            }
        }
        return range
    }

    /// Looks at all records with these first keys, for an order that no index has.
    private mutating func searchUnordered(
        _ prefix: [[UInt8]?], _ selection: inout QuerySelection
    ) throws(ServerError) {
        var left = limits.unordered
        if let (field, use) = nameOrderUse(prefix) ?? anyUse {
            if try scanAll(use, of: field, &left, &selection) { return }
        } else if try scanType(&left, &selection) {
            return
        }
        throw ServerError(
            .limitExceeded,
            "No index has the order of this query, and it finds more than \(limits.unordered) "
                + "records: add a filter, for example NEAR.")
    }

    private var anyUse: (FieldName, IndexUse)? {
        for test in evaluator.tests {
            if let field = test.indexName, let use = test.indexUse { return (field, use) }
        }
        return nil
    }

    private mutating func scanType(
        _ left: inout Int, _ selection: inout QuerySelection
    ) throws(ServerError) -> Bool {
        var batch = BatchSize()
        var after: RecordName?
        while left >= 0 {
            let limit = batch.count
            let found = try reader.records(
                zone, type: evaluator.type, after: after, descending: false, limit: limit,
                maximumBytes: BatchSize.maximumBytes)
            let isMore = batch.note(found, of: limit)
            left -= found.count
            try examine(found, &selection)
            guard isMore, let last = found.last else { return left >= 0 }
            after = last.name
        }
        return false
    }

    /// Returns an index use whose records are in the order of names: that of the last of the keys,
    /// otherwise that of a filter.
    func nameOrderUse(_ prefix: [[UInt8]?]) -> (FieldName, IndexUse)? {
        for (key, value) in zip(order.keys, prefix).reversed() {
            if let field = key.index, let value { return (field, .keys(.value, [value])) }
        }
        for test in evaluator.tests {
            if let field = test.indexName, let use = test.indexUse, use.isInNameOrder {
                return (field, use)
            }
        }
        return nil
    }
}

extension IndexScan {
    /// Begins with the entries of a key, or with the entries after them in the direction of the
    /// scan.
    fileprivate mutating func start(at key: [UInt8], isPast: Bool) {
        if ascending {
            lower = isPast ? IndexKey.next(after: key) : key
        } else {
            upper = isPast ? key : IndexKey.next(after: key)
        }
    }
}
