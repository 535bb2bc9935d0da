import RecordModel
import RecordWire

/// One page of a query over some zones of one database.
struct QueryPage {
    /// Records of the page, each with the number of its zone.
    let items: [QuerySelection.Item]
    /// The beginning of the next page. It is nil at the end.
    let next: QueryPosition?

    /// Searches one page. `zones` are those of the query, each with the records that its caller may
    /// see.
    static func search(
        _ evaluator: QueryEvaluator, zones: [RecordVisibility], after marker: QueryPosition?,
        count: Int, limits: QueryLimits, memory: MemoryHold? = nil, _ reader: any StorageReader
    ) throws(ServerError) -> QueryPage {
        var selection = QuerySelection(
            order: evaluator.order, marker: marker, maximumCount: count,
            maximumBytes: limits.pageBytes)
        // Every zone makes progress, however many there are.
        let budget = max(limits.examinedInZone, limits.examined / max(1, zones.count))
        var reached: QueryPosition?
        for (index, zone) in zones.enumerated() {
            var search = ZoneSearch(
                evaluator: evaluator, visibility: zone, reader: reader, limits: limits,
                index: index, budget: budget, memory: memory)
            guard case .paused(let place) = try search.run(&selection) else { continue }
            if reached.map({ evaluator.order.precedes(place, $0) }) ?? true { reached = place }
        }
        // A zone that paused has more records after that place. The page ends at the first such
        // place.
        if let reached, !selection.isFull(at: reached) {
            selection.cut(after: reached)
            return QueryPage(items: selection.items, next: reached)
        }
        let next = selection.ceiling == nil ? nil : selection.items.last?.position
        return QueryPage(items: selection.items, next: next)
    }
}
