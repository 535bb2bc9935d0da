import RecordModel
import RecordWire

extension ZoneSearch {
    /// Looks at all records that a selective filter leaves, if there is one. Returns false when the
    /// answer has to be found in its order. The records found so far are valid in either case.
    mutating func searchCandidates(_ selection: inout QuerySelection) throws(ServerError) -> Bool {
        if let names = try candidateNames() {
            try examine(names: names, &selection)
            return true
        }
        let native = nativeTest
        let uses = evaluator.tests.enumerated().compactMap { index, test in
            index == native ? nil : test.indexUse.map { (index, $0) }
        }
        for (index, use) in uses.sorted(by: { $0.1.cost < $1.1.cost }) {
            guard let field = evaluator.tests[index].indexName else { continue }
            var left = min(limits.candidates, budget)
            if try scanAll(use, of: field, &left, &selection) { return true }
        }
        return false
    }

    /// The filter that narrows the scan of the ordered search, so that it needs no candidates.
    private var nativeTest: Int? {
        guard let key = order.keys.first else {
            return evaluator.tests.firstIndex { $0.indexUse?.isInNameOrder ?? false }
        }
        guard let name = key.index else { return nil }
        return evaluator.tests.firstIndex {
            $0.indexName == name && $0.indexUse?.kind == .value
        }
    }

    /// Returns the names to which the query is limited without an index.
    private func candidateNames() throws(ServerError) -> [RecordName]? {
        for test in evaluator.tests where !test.rule.isNegated {
            switch (test.field, test.operand) {
            case (.system(.recordName), .one(let item)) where test.rule.kind == .equals:
                return [RecordName(bytes: item.bytes)]
            case (.system(.recordName), .many(let items)) where test.rule.kind == .oneOf:
                return Set(items.map { RecordName(bytes: $0.bytes) }).sorted()
            case (.system(.parent), .one(let item)) where test.rule.kind == .equals:
                let names = try reader.children(
                    zone, of: RecordName(bytes: item.bytes), limit: limits.candidates + 1)
                if names.count <= limits.candidates { return names }
            case (.system(.share), .one(let item)) where test.rule.kind == .equals:
                let names = try members(of: [RecordName(bytes: item.bytes)])
                if let names { return names }
            default: break
            }
        }
        guard let shares = access.visibleShares else { return nil }
        return try members(of: shares)
    }

    /// Returns the members of the shares. Returns nil when there are more than the candidates of a
    /// query.
    private func members(of shares: [RecordName]) throws(ServerError) -> [RecordName]? {
        var names: [RecordName] = []
        for share in shares {
            names += try reader.members(
                zone, of: share, limit: limits.candidates + 1 - names.count)
            if names.count > limits.candidates { return nil }
        }
        return names
    }

    private mutating func examine(
        names: [RecordName], _ selection: inout QuerySelection
    ) throws(ServerError) {
        var rest = names[...]
        while !rest.isEmpty {
            let part = try reader.records(
                zone, first: rest.prefix(BatchSize.maximumCount),
                maximumBytes: BatchSize.maximumBytes)
            rest = rest.dropFirst(part.count)
            try examine(part.found.values, &selection)
        }
    }

    /// Looks at all entries of an index use, up to `left` entries. Returns false when there are
    /// more.
    mutating func scanAll(
        _ use: IndexUse, of field: FieldName, _ left: inout Int, _ selection: inout QuerySelection
    ) throws(ServerError) -> Bool {
        for range in use.ranges {
            var batch = BatchSize()
            var scan = self.scan(field, use.kind, range, ascending: true)
            while true {
                scan.limit = min(batch.count, left + 1)
                let found = try reader.scan(zone, scan)
                left -= found.count
                try examine(found.lazy.map(\.record), &selection)
                if left < 0 { return false }
                let isMore = batch.note(found.map(\.record), of: scan.limit)
                guard isMore, let last = found.last else { break }
                scan.after = (last.key, last.record.name)
            }
        }
        return true
    }

    func scan(
        _ field: FieldName, _ kind: IndexEntry.Kind, _ range: IndexUse.Range, ascending: Bool
    ) -> IndexScan {
        var scan = IndexScan(type: evaluator.type, field: field, kind: kind, limit: 1)
        scan.lower = range.lower
        scan.upper = range.upper
        scan.ascending = ascending
        scan.maximumBytes = BatchSize.maximumBytes
        return scan
    }
}

extension IndexUse {
    /// The cost of the use. It is smaller when there are likely to be fewer records.
    fileprivate var cost: Int {
        switch (isInNameOrder, kind) {
        case (true, .value): ranges.count == 1 ? 0 : 2
        case (true, _): 1
        case (false, .element): 3
        case (false, _): 4
        }
    }
}
