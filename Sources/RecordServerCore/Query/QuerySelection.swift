import RecordModel
import RecordWire

/// The first records of an answer, which may be found in any order: at most `maximumCount`, and so
/// many that their fields have at most `maximumBytes` together (but always one).
struct QuerySelection {
    struct Item {
        let position: QueryPosition
        let record: StoredRecord
        /// The number of the record's zone among the query's zones.
        let zone: Int
    }

    private let order: QueryOrder
    /// The place up to which records are on earlier pages.
    let marker: QueryPosition?
    private let maximumCount: Int
    private let maximumBytes: Int
    private(set) var items: [Item] = []
    /// The bytes of the fields of all items.
    private(set) var bytes = 0
    /// The first record without room. It and all records after it are for later pages.
    private(set) var ceiling: QueryPosition?

    init(order: QueryOrder, marker: QueryPosition?, maximumCount: Int, maximumBytes: Int) {
        self.order = order
        self.marker = marker
        self.maximumCount = maximumCount
        self.maximumBytes = maximumBytes
    }

    /// Returns whether a record at this place is for a later page.
    func isFull(at position: QueryPosition) -> Bool {
        guard let ceiling else { return false }
        return !order.precedes(position, ceiling)
    }

    /// Returns whether all records with these first keys are for later pages.
    func isFull(before keys: [[UInt8]?]) -> Bool {
        guard let ceiling, !ceiling.keys.starts(with: keys) else { return false }
        return order.precedes(ceiling, QueryPosition(keys: keys, name: nil, zone: ceiling.zone))
    }

    /// Inserts the record if it is for this page. Inserting the same one again changes nothing.
    mutating func insert(_ item: Item) {
        if let marker, !order.precedes(marker, item.position) { return }
        if isFull(at: item.position) { return }
        var low = 0
        var high = items.count
        while low < high {
            let middle = (low + high) / 2
            if order.precedes(items[middle].position, item.position) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        if low < items.count, items[low].position == item.position { return }
        items.insert(item, at: low)
        bytes += item.record.bytes
        while items.count > maximumCount || (bytes > maximumBytes && items.count > 1) {
            let last = items.removeLast()
            bytes -= last.record.bytes
            ceiling = last.position
        }
    }

    /// Removes the items after the place up to which all zones were searched.
    mutating func cut(after reached: QueryPosition) {
        items.removeAll { order.precedes(reached, $0.position) }
    }
}
