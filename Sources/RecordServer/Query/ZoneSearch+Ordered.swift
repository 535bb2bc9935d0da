import RecordModel
import RecordWire

extension ZoneSearch {
    /// Looks at the records whose first keys are `prefix`, in the order of the query, until the
    /// page is full. `resume` is where the last page ended, if that is among them.
    mutating func search(
        prefix: [[UInt8]?], resume: QueryPosition?, _ selection: inout QuerySelection
    ) throws(ServerError) -> Outcome {
        // The place after all of these records.
        if let resume, resume.keys.count == prefix.count, resume.name == nil { return .finished }
        guard prefix.count < order.keys.count else {
            return try searchByName(prefix: prefix, after: resume?.name, &selection)
        }
        let key = order.keys[prefix.count]
        if key.field == .system(.recordName) {
            return try searchByName(prefix: prefix, after: resume?.name, &selection)
        }
        guard let field = key.index else {
            try searchUnordered(prefix, &selection)
            return .finished
        }
        let resumeKey = resume.map { $0.keys[prefix.count] }
        let nullsFirst = key.isAscending
        var wantsNulls = !isNeverNull(key.field)
        var wantsValues = true
        switch resumeKey {
        case .some(nil): wantsValues = nullsFirst
        case .some: wantsNulls = wantsNulls && !nullsFirst
        case nil: break
        }
        let nullsResume = resumeKey == .some(nil) ? resume : nil
        let valuesResume = resumeKey == .some(nil) ? nil : resume
        if wantsNulls, nullsFirst {
            let outcome = try search(prefix: prefix + [nil], resume: nullsResume, &selection)
            guard case .finished = outcome, !isFull(after: prefix + [nil], selection) else {
                return outcome
            }
        }
        if wantsValues {
            let outcome = try searchValues(field, prefix, valuesResume, &selection)
            guard case .finished = outcome else { return outcome }
        }
        if wantsNulls, !nullsFirst {
            return try search(prefix: prefix + [nil], resume: nullsResume, &selection)
        }
        return .finished
    }

    /// Whether the page has room for nothing after the records with these keys.
    private func isFull(after keys: [[UInt8]?], _ selection: QuerySelection) -> Bool {
        selection.isFull(at: QueryPosition(keys: keys, name: nil, zone: zoneBytes))
    }

    private func isNeverNull(_ field: QueryField) -> Bool {
        switch field {
        case .system(let system): system != .parent && system != .share
        case .field: evaluator.tests.contains { $0.field == field && $0.needsValue }
        }
    }

    /// The part of an index of values that the filters of its field leave.
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

    /// Goes through the index of a key. With the last key its order is that of the query. Before
    /// that, records with equal keys are looked at together: all of them, or where they are many,
    /// in the order of the next key.
    private mutating func searchValues(
        _ field: FieldName, _ prefix: [[UInt8]?], _ resume: QueryPosition?,
        _ selection: inout QuerySelection
    ) throws(ServerError) -> Outcome {
        let ascending = order.keys[prefix.count].isAscending
        let isLast = prefix.count + 1 == order.keys.count
        var scan = self.scan(field, .value, range(field), ascending: ascending)
        var group: (key: [UInt8], count: Int)?
        if let resume, let key = resume.keys[prefix.count] {
            if isLast, let name = resume.name {
                scan.after = (key, name)
            } else {
                let isPast = resume.keys.count == prefix.count + 1 && resume.name == nil
                scan.start(at: key, isPast: isPast)
            }
        }
        var batch = BatchSize()
        while true {
            scan.limit = batch.count
            let found = try reader.scan(zone, scan)
            batch.note(found.map(\.record))
            for entry in found {
                let keys = prefix + [entry.key]
                if isLast {
                    let place = QueryPosition(
                        keys: keys, name: entry.record.name, zone: zoneBytes)
                    if selection.isFull(at: place) { return .finished }
                    try examine(entry.record, &selection)
                    if isExhausted { return .paused(place) }
                    continue
                }
                if let group, group.key != entry.key {
                    let end = QueryPosition(
                        keys: prefix + [group.key], name: nil, zone: zoneBytes)
                    if selection.isFull(at: end) { return .finished }
                    if isExhausted { return .paused(end) }
                }
                group = (entry.key, group?.key == entry.key ? (group?.count ?? 0) + 1 : 1)
                try examine(entry.record, &selection)
            }
            guard let last = found.last, found.count == scan.limit else { return .finished }
            scan.after = (last.key, last.record.name)
            guard let large = group, large.count > min(limits.group, budget / 2) else { continue }
            let keys = prefix + [large.key]
            let outcome = try search(
                prefix: keys, resume: resume.flatMap { $0.keys.starts(with: keys) ? $0 : nil },
                &selection)
            guard case .finished = outcome, !isFull(after: keys, selection) else {
                return outcome
            }
            scan.after = nil
            scan.start(at: large.key, isPast: true)
            group = nil
        }
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
            "No index has the order of this query, and it is of more than \(limits.unordered) "
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
            let found = try reader.records(
                zone, type: evaluator.type, after: after, descending: false, limit: batch.count)
            left -= found.count
            try examine(found, &selection)
            guard let last = found.last, found.count == batch.count else { return left >= 0 }
            batch.note(found)
            after = last.name
        }
        return false
    }

    /// An index use whose records come in the order of names: that of the last of the keys, else
    /// that of a filter.
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
    /// Begins with the entries of a key, or with those past it in the direction of the scan.
    fileprivate mutating func start(at key: [UInt8], isPast: Bool) {
        if ascending {
            lower = isPast ? IndexKey.next(after: key) : key
        } else {
            upper = isPast ? key : IndexKey.next(after: key)
        }
    }
}
