import RecordModel
import RecordWire

/// One page of the feed of a zone, as one viewer sees it.
struct FeedPage {
    /// The most records and bytes of one read, so that large records do not fill the memory.
    private static let sliceCount = 200
    private static let sliceBytes = 1 << 20
    /// The number of entries of a page in reverse.
    private static let reversedCount = 20
    /// The most entries that a page looks at when most of them do not belong on it.
    private static let maximumScan = 5_000

    let request: ZoneChangesRequest
    let access: ZoneAccess
    let token: ZoneToken
    let context: OperationContext
    let reader: any StorageReader
    /// Indicates whether this page has the newest entries first. The pages after it go forward from
    /// the place where it began, so that nothing is skipped.
    let isReversed: Bool
    /// Indicates whether the client learns where moved records are.
    var tellsMoves = false
    /// The position up to which deletions carry their tags. The client may know a later record of
    /// the name, which a restored server has lost.
    var restorePoint: Int64 = 0

    private(set) var isComplete = false
    private(set) var position: Int64

    init(
        _ request: ZoneChangesRequest, access: ZoneAccess, token: ZoneToken,
        context: OperationContext, reader: any StorageReader
    ) {
        self.request = request
        self.context = context
        self.access = access
        self.token = token
        self.reader = reader
        isReversed = request.reverse && !token.hasReversedPage
        position = token.position
    }

    /// The token of the next page.
    var nextToken: ZoneToken {
        if isReversed, !isComplete {
            return ZoneToken(
                access: access, position: token.position, start: token.start,
                hasReversedPage: true)
        }
        // At the end, the beginning of the fetch does not matter any more.
        if isComplete { return .current(access) }
        return ZoneToken(
            access: access, position: position, start: token.start,
            hasReversedPage: token.hasReversedPage)
    }

    /// Writes the records of the page as elements of an array, until the answer has `maximumBytes`.
    mutating func write(
        _ printer: inout RecordPrinter, maximumBytes: Int, to answer: inout AnswerWriter
    ) throws(ServerError) {
        guard access.exists else {
            isComplete = true
            return
        }
        if isReversed {
            try writeReversed(&printer, maximumBytes: maximumBytes, to: &answer)
            return
        }
        var written = 0
        var scanned = 0
        while written < request.resultsLimit, scanned < Self.maximumScan,
            answer.count < maximumBytes
        {
            let limit = min(Self.sliceCount, request.resultsLimit - written)
            let items = try items(limit: limit)
            for item in items {
                position = item.position
                if try write(item, &printer, to: &answer) { written += 1 }
                if answer.count >= maximumBytes { break }
            }
            scanned += items.count
            if items.count < limit, position == items.last?.position ?? position,
                items.reduce(0, { $0 + $1.bytes }) < Self.sliceBytes
            {
                isComplete = true
                return
            }
        }
        isComplete = try items(limit: 1).isEmpty
    }

    /// One item of the feed: the state of a record, or a departure. A departure stands where an
    /// earlier record of a name went, as a client that asked in time would have heard it.
    private enum Item {
        case entry(FeedEntry)
        case departure(Departure)

        var position: Int64 {
            switch self {
            case .entry(let entry): entry.position
            case .departure(let departure): departure.position
            }
        }

        var bytes: Int {
            if case .entry(let entry) = self { entry.bytes } else { 0 }
        }
    }

    /// Returns at most `limit` items after the position.
    private func items(limit: Int) throws(ServerError) -> [Item] {
        let entries = try entries(after: position, descending: false, limit: limit)
        let items = entries.map { Item.entry($0) }
        guard tellsMoves, access.visibleShares == nil else { return items }
        var departures = try reader.departures(
            access.zone.handle, after: position, limit: limit)
        guard !departures.isEmpty else { return items }
        let isCut =
            entries.count == limit || entries.reduce(0) { $0 + $1.bytes } >= Self.sliceBytes
        if isCut, let end = entries.last?.position {
            departures.removeAll { $0.position > end }
        }
        let merged = (items + departures.map { .departure($0) })
            .sorted { $0.position < $1.position }
        return Array(merged.prefix(limit))
    }

    private mutating func writeReversed(
        _ printer: inout RecordPrinter, maximumBytes: Int, to answer: inout AnswerWriter
    ) throws(ServerError) {
        let oldest = try entries(after: position, descending: false, limit: 1).first?.position
        let newest = try entries(
            after: position, descending: true,
            limit: min(Self.reversedCount, request.resultsLimit))
        var last: Int64?
        for entry in newest where answer.count < maximumBytes {
            _ = try write(entry, &printer, to: &answer)
            last = entry.position
        }
        isComplete = last == oldest
    }

    private func entries(
        after position: Int64, descending: Bool, limit: Int
    ) throws(ServerError) -> [FeedEntry] {
        try reader.changes(
            access.zone.handle, after: position, shares: access.visibleShares,
            descending: descending, limit: limit, maximumBytes: Self.sliceBytes)
    }

    /// Returns where the record is now, as far as the viewer may know it. Participants do not learn
    /// of other zones of the owner, and viewers of parts of a zone do not learn of the rest of it.
    private func shown(_ address: RecordAddress?) -> RecordAddress? {
        guard tellsMoves, let address else { return nil }
        if case .owner = access.view { return address }
        guard access.visibleShares == nil, address.zone == access.zone.key.zone else { return nil }
        return address
    }

    private func shownTag(_ deletion: Int64) -> Text? {
        deletion <= restorePoint ? StoredRecord.changeTag(deletion) : nil
    }

    /// Writes the item if it belongs on this page, and returns whether it does.
    private func write(
        _ item: Item, _ printer: inout RecordPrinter, to answer: inout AnswerWriter
    ) throws(ServerError) -> Bool {
        switch item {
        case .entry(let entry): return try write(entry, &printer, to: &answer)
        case .departure(let departure):
            guard departure.position > token.start, let target = shown(departure.target) else {
                return false
            }
            answer.value(
                TombstoneAnswer(
                    departure.name, movedTo: target,
                    changeTag: StoredRecord.changeTag(departure.position)))
            return true
        }
    }

    /// Writes the entry if it belongs on this page, and returns whether it does.
    private func write(
        _ entry: FeedEntry, _ printer: inout RecordPrinter, to answer: inout AnswerWriter
    ) throws(ServerError) -> Bool {
        switch entry {
        case .gone(let name, let position):
            // A client that started from nothing never had the records that were gone by then.
            guard position > token.start else { return false }
            answer.value(TombstoneAnswer(name, changeTag: shownTag(position)))
        case .record(let record) where record.isDeleted:
            guard record.position > token.start else { return false }
            answer.value(
                TombstoneAnswer(
                    record.name, movedTo: shown(record.movedTo),
                    changeTag: shownTag(record.position),
                    gesture: request.projection.wantsGestures ? record.gesture : nil))
        case .record(let record):
            guard request.desiredRecordTypes?.contains(record.type) ?? true else { return false }
            try printer.write(record, to: &answer)
            try context.hold(answer.count)
        }
        return true
    }
}

extension FeedEntry {
    fileprivate var bytes: Int {
        switch self {
        case .record(let record): record.bytes
        case .gone: 0
        }
    }
}
