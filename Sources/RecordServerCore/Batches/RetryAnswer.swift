import RecordModel
import RecordWire

/// Answers a records/modify that was done before (an extension: `operationID`).
///
/// Each operation has the outcome that it had. The answer shows the records as the caller may see
/// them now. A record that has changed since has the tag that the operation gave it, and no fields.
/// A record that was saved and does not exist any more is reported as deleted.
struct RetryAnswer {
    private static let readCount = 4

    let resources: ServiceResources
    let access: ZoneAccess
    let context: OperationContext
    let reader: any StorageReader

    /// Returns the answer. `names` are those of the operations, in their order.
    func answer(
        _ request: ModifyRequest, names: [RecordName?], _ outcome: OperationOutcome
    ) throws(ServerError) -> Answer {
        let visibility = try RecordVisibility(access, context, reader)
        var printer = RecordPrinter(
            resources: resources, access: access, context: context, projection: request.projection,
            reader: reader)
        let entries = zip(names, outcome.entries).map { (name: $1.madeName ?? $0, item: $1.item) }
        return try AnswerWriter.answer(capacity: 512 * entries.count) {
            answer throws(ServerError) in
            answer.key("records")
            try answer.array { answer throws(ServerError) in
                var found: [RecordName: StoredRecord] = [:]
                for (index, entry) in entries.enumerated() {
                    if index.isMultiple(of: Self.readCount) {
                        let names = entries[index...].prefix(Self.readCount).compactMap(\.name)
                        found = try reader.records(access.zone.handle, Array(Set(names)))
                            .filter { visibility.shows($0.value) }
                    }
                    let record = entry.name.flatMap { found[$0] }
                    try write(entry.item, entry.name, record, &printer, to: &answer)
                    try context.hold(answer.count)
                }
            }
            if context.wantsSyncToken || request.wantsSyncToken {
                answer.member("syncToken", ZoneToken.current(access).sealed(resources.seal))
            }
        }
    }

    /// Writes one item. `record` is the record as the caller sees it now.
    private func write(
        _ item: OperationOutcome.Item, _ name: RecordName?, _ record: StoredRecord?,
        _ printer: inout RecordPrinter, to answer: inout AnswerWriter
    ) throws(ServerError) {
        switch item {
        case .gone:
            if let name { answer.value(TombstoneAnswer(name)) }
        case .saved(let tag):
            guard let record else {
                if let name { answer.value(TombstoneAnswer(name)) }
                return
            }
            guard record.tag != tag || answer.count > RecordLookups.maximumAnswerBytes else {
                return try printer.write(record, to: &answer)
            }
            writeTag(tag, of: record, to: &answer)
        case .failed(let code, let reason):
            var error = ServerError(code, reason)
            if code == .conflict, let record,
                answer.count <= RecordLookups.maximumAnswerBytes
            {
                error.serverRecord = try printer.serverRecord(record)
            }
            answer.value(
                error.item(
                    recordName: name, requestID: context.requestID, dialect: context.dialect))
        }
    }

    private func writeTag(_ tag: Int64, of record: StoredRecord, to answer: inout AnswerWriter) {
        var record = record
        record.tag = tag
        answer.object { answer in
            answer.member("recordName", record.name)
            answer.member("recordType", record.type)
            answer.member("recordChangeTag", record.changeTag)
            answer.member("deleted", false)
        }
    }
}
