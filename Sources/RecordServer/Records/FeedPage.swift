import RecordModel
import RecordWire

/// One page of the feed of a zone, as one viewer sees it (reference §6.4, §7.3).
struct FeedPage {
    /// How many entries are read at once at most, and at first: large records shall not fill the
    /// memory.
    private static let sliceCount = 200
    private static let firstSliceCount = 20
    /// How many entries a page looks at when most of them are not for it.
    private static let maximumScan = 5_000

    let request: ZoneChangesRequest
    let access: ZoneAccess
    let token: ZoneToken
    let reader: any StorageReader
    /// Whether this page comes newest first. The pages after it go forward from where it began, so
    /// that nothing is skipped.
    let isReversed: Bool

    private(set) var isComplete = false
    private(set) var position: Int64

    init(
        _ request: ZoneChangesRequest, access: ZoneAccess, token: ZoneToken,
        reader: any StorageReader
    ) {
        self.request = request
        self.access = access
        self.token = token
        self.reader = reader
        isReversed = request.reverse && !token.hasReversedPage
        position = token.position
    }

    /// Where the next page begins.
    var nextToken: ZoneToken {
        if isReversed, !isComplete {
            return ZoneToken(
                access: access, position: token.position, start: token.start,
                hasReversedPage: true)
        }
        // At the end nothing of the beginning counts any more.
        if isComplete { return .current(access) }
        return ZoneToken(
            access: access, position: position, start: token.start,
            hasReversedPage: token.hasReversedPage)
    }

    /// Writes the records of the page as elements of an array, until the answer has
    /// `maximumBytes`.
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
        var slice = Self.firstSliceCount
        let start = answer.bytes.count
        while written < request.resultsLimit, scanned < Self.maximumScan,
            answer.bytes.count < maximumBytes
        {
            let limit = min(slice, request.resultsLimit - written)
            let entries = try entries(after: position, descending: false, limit: limit)
            for entry in entries {
                position = entry.position
                if try write(entry, &printer, to: &answer) { written += 1 }
                if answer.bytes.count >= maximumBytes { break }
            }
            scanned += entries.count
            slice = nextSlice(after: scanned, bytes: answer.bytes.count - start)
            if entries.count < limit, position == entries.last?.position ?? position {
                isComplete = true
                return
            }
        }
        isComplete = try entries(after: position, descending: false, limit: 1).isEmpty
    }

    /// As many as will have about a megabyte.
    private func nextSlice(after count: Int, bytes: Int) -> Int {
        let average = max(bytes / max(count, 1), 1)
        return max(1, min(Self.sliceCount, (1 << 20) / average))
    }

    private mutating func writeReversed(
        _ printer: inout RecordPrinter, maximumBytes: Int, to answer: inout AnswerWriter
    ) throws(ServerError) {
        let limit = min(Self.firstSliceCount, request.resultsLimit)
        let entries = try entries(after: position, descending: true, limit: limit + 1)
        isComplete = entries.count <= limit
        for entry in entries.prefix(limit) {
            guard answer.bytes.count < maximumBytes else {
                isComplete = false
                return
            }
            _ = try write(entry, &printer, to: &answer)
        }
    }

    private func entries(
        after position: Int64, descending: Bool, limit: Int
    ) throws(ServerError) -> [FeedEntry] {
        try reader.changes(
            access.zone.handle, after: position, shares: access.visibleShares,
            descending: descending, limit: limit)
    }

    /// Whether the entry is one for this page.
    private func write(
        _ entry: FeedEntry, _ printer: inout RecordPrinter, to answer: inout AnswerWriter
    ) throws(ServerError) -> Bool {
        switch entry {
        case .gone(let name, let position):
            // Who started from nothing never had what was gone by then.
            guard position > token.start else { return false }
            answer.value(TombstoneAnswer(name))
        case .record(let record) where record.isDeleted:
            guard record.position > token.start else { return false }
            answer.value(TombstoneAnswer(record.name))
        case .record(let record):
            guard request.desiredRecordTypes?.contains(record.type) ?? true else { return false }
            try printer.write(record, to: &answer)
        }
        return true
    }
}
