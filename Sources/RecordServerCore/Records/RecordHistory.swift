import RecordModel
import RecordWire

/// Answers records/history, an extension: the former states of the caller's own records.
struct RecordHistory: Sendable {
    let resources: ServiceResources

    /// The most bytes of states in one answer.
    private static let answerBytes = 1 << 20

    func formerRecords(
        _ body: JSONValue, _ context: OperationContext
    ) async throws(ServerError) -> [UInt8] {
        let request = try HistoryRequest(
            JSONReader(body), limits: resources.settings.requestLimits)
        return try await resources.storage.read { reader throws(ServerError) in
            let access = try ZoneAccess.open(request.zone, context, reader)
            let found =
                access.exists
                ? try reader.formerRecords(
                    access.zone.handle, of: request.name, before: request.before,
                    limit: request.resultsLimit, maximumBytes: Self.answerBytes) : []
            var projection = RecordProjection.everything
            (projection.wantsFileText, projection.wantsGestures) = (true, true)
            projection.wantsAssetDetails = true
            var printer = RecordPrinter(
                resources: resources, access: access, context: context, projection: projection,
                reader: reader)
            return try AnswerWriter.answer(capacity: 1_024 * found.count + 64) {
                answer throws(ServerError) in
                answer.key("versions")
                try answer.array { answer throws(ServerError) in
                    for former in found {
                        try Self.write(former, &printer, to: &answer)
                        try context.hold(answer.count)
                    }
                }
                if let last = found.last {
                    answer.member("continuationMarker", StoredRecord.changeTag(last.position))
                }
            }.bytes
        }
    }

    /// Writes a state. Its assets come without URLs: the server keeps the bytes of present records
    /// only.
    private static func write(
        _ former: FormerRecord, _ printer: inout RecordPrinter, to answer: inout AnswerWriter
    ) throws(ServerError) {
        var record = former.record
        record.hasAssets = false
        try answer.object { answer throws(ServerError) in
            answer.key("record")
            try printer.write(record, to: &answer)
            answer.member("replaced", StampAnswer(former.replaced))
            answer.member("gesture", former.gesture)
            answer.member("deleted", former.isDeletion)
        }
    }
}
