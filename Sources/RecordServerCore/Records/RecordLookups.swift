import RecordModel
import RecordWire

/// Answers records/lookup.
struct RecordLookups: Sendable {
    let resources: ServiceResources

    /// The most bytes of records in one answer. The items beyond it say to ask for less.
    static let maximumAnswerBytes = 16 << 20
    /// The most bytes and records of one read.
    private static let lookupBytes = 1 << 20
    private static let lookupCount = 20

    /// Answers records/lookup: an item for each name, in order (CloudKit Web Services Reference,
    /// Fetching Records by Record Name).
    func lookupRecords(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> Answer
    {
        let request = try LookupRequest(JSONReader(body), limits: resources.settings.requestLimits)
        return try await resources.storage.read { reader throws(ServerError) in
            let access = try ZoneAccess.open(request.zone, context, reader)
            let visibility = try RecordVisibility(access, context, reader)
            var found: [RecordName: StoredRecord] = [:]
            var printer = RecordPrinter(
                resources: resources, access: access, context: context,
                projection: request.projection,
                reader: reader)
            return try AnswerWriter.answer(capacity: 512 * request.items.count + 64) {
                answer throws(ServerError) in
                answer.key("records")
                try answer.array { answer throws(ServerError) in
                    var known = 0
                    for (index, item) in request.items.enumerated() {
                        // Read a part at a time, because the records together may be larger than
                        // the answer.
                        if index == known {
                            let names = request.items[index...].prefix(Self.lookupCount)
                                .map(\.name)
                            let part = try reader.records(
                                access.zone.handle, first: names[...],
                                maximumBytes: Self.lookupBytes)
                            found = part.found
                            known += part.count
                        }
                        guard let record = found[item.name], visibility.shows(record) else {
                            answer.value(Self.missing(item.name, context))
                            continue
                        }
                        guard answer.count < Self.maximumAnswerBytes else {
                            answer.value(Self.tooMuch(item.name, context))
                            continue
                        }
                        try printer.write(
                            record,
                            desiredKeys: item.desiredKeys ?? request.projection.desiredKeys,
                            to: &answer)
                        try context.hold(answer.count)
                    }
                }
                if context.wantsSyncToken || request.wantsSyncToken, context.scope != .public {
                    answer.member(
                        "syncToken", ZoneToken.current(access).sealed(resources.seal))
                }
            }
        }
    }

    private static func missing(_ name: RecordName, _ context: OperationContext) -> ErrorAnswer {
        ServerError(.notFound, "There is no such record.")
            .item(recordName: name, requestID: context.requestID, dialect: context.dialect)
    }

    private static func tooMuch(_ name: RecordName, _ context: OperationContext) -> ErrorAnswer {
        ServerError(
            .limitExceeded,
            "An answer has about \(maximumAnswerBytes) bytes at most: ask for fewer records."
        )
        .item(recordName: name, requestID: context.requestID, dialect: context.dialect)
    }
}
