import RecordModel
import RecordWire

/// The answer to a records/modify, with everything that printing needs.
struct ModifyAnswer: Sendable {
    enum Item: Sendable {
        case failed(RecordName?, ServerError)
        case saved(StoredRecord)
        /// A record that is gone, with the children that stay when it was the root of a share.
        case gone(RecordName, unshared: [RecordName])
    }

    let items: [Item]
    let projection: RecordProjection
    let access: ZoneAccess
    /// The context, which holds no memory: a change that is done is not refused any more.
    let context: OperationContext
    let resources: ServiceResources
    var syncToken: Text?
    var databaseToken: Text?
    /// The room that the user has left after the request, in bytes. It is nil when the client does
    /// not ask or nothing limits the user.
    var freeBytes: Int64?

    /// Indicates whether a record shows its share, which is in the storage.
    var needsReader: Bool {
        items.contains { item in
            guard case .saved(let record) = item else { return false }
            return record.type == .share || record.shortGUID != nil && record.share != nil
        }
    }

    /// The bytes that printing takes in addition: the values of a record whose fields are not
    /// copied.
    var decodedBytes: Int {
        items.reduce(0) { most, item in
            guard case .saved(let record) = item, record.fields.count > most,
                !RecordPrinter.copiesFields(of: record, projection, resources.settings)
            else { return most }
            return max(most, FieldsCodec.decodedBytes(record.fields))
        }
    }

    /// Prints the answer on a thread of the pool, while the thread of the storage writes and
    /// commits.
    func start() -> Task<Result<Answer, ServerError>, Never> {
        Task { Result { () throws(ServerError) in try answer(nil) } }
    }

    /// Prints the answer. `reader` may be nil when it is not needed.
    func answer(_ reader: (any StorageReader)?) throws(ServerError) -> Answer {
        var printer = RecordPrinter(
            resources: resources, access: access, context: context, projection: projection,
            reader: reader)
        return try AnswerWriter.answer(capacity: 512 * items.count) { answer throws(ServerError) in
            try answer.member(
                "records",
                array: { answer throws(ServerError) in
                    for item in items { try write(item, &printer, to: &answer) }
                })
            answer.member("syncToken", syncToken)
            answer.member("databaseSyncToken", databaseToken)
            answer.member("freeBytes", freeBytes)
        }
    }

    private func write(
        _ item: Item, _ printer: inout RecordPrinter, to answer: inout AnswerWriter
    ) throws(ServerError) {
        switch item {
        case .failed(let name, let error):
            answer.value(
                error.item(
                    recordName: name, requestID: context.requestID, dialect: context.dialect))
        case .saved(let record): try printer.write(record, to: &answer)
        case .gone(let name, let unshared):
            answer.value(TombstoneAnswer(name, unshared: unshared))
        }
    }
}
