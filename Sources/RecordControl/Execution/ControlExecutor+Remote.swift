import RecordModel
import RecordStore
import RecordStoreSync

extension ControlExecutor {
    /// Applies a change as if a server had reported it.
    ///
    /// The text is an object with `path`, and `record` (the fields as in a file) or `"delete":
    /// true`; optionally `changeTag` and `modifiedBy`. Only a process for tests accepts it: this
    /// machine must never record a server state that the server does not have.
    func applyRemote(_ text: [UInt8]) throws(RecordError) -> ControlReply {
        guard isForTests else {
            throw RecordError(
                .unsupported,
                "changes from elsewhere come from a record server. Tests may make them, with "
                    + "\(TestRun.variable) in the environment of the daemon.")
        }
        let change = try JSONParser.parse(text)
        guard let place = change["path"]?.string?.utf8 else {
            throw RecordError(.invalidArgument, "the change has no \"path\".")
        }
        let path = try RecordPath(parsing: place)
        guard case .record(let stem) = path.item, let name = stem.decoded else {
            throw RecordError(
                .invalidArgument, "is not a record. Write DATABASE/ZONE/TYPE/NAME.")
        }
        let result = try store.write(author: .sync) {
            (transaction) throws(RecordError) -> RemoteResult in
            let type = try transaction.makeType(at: path)
            let schema = try transaction.schema(of: type.name)
            var remote = RemoteChange(
                type: type.name, name: name, operation: try Self.operation(change, schema),
                changeTag: change.stringMember("changeTag") ?? "", modified: transaction.now,
                modifiedBy: change.stringMember("modifiedBy") ?? "_remote")
            remote.unstamped = FieldStamp(at: transaction.now)
            return try transaction.feed.applyRemote(remote, in: type.zone)
        }
        return ControlReply(.members(["outcome": .text("\(result.outcome)")]))
    }

    private static func operation(
        _ change: JSONValue, _ schema: RecordSchema
    ) throws(RecordError) -> RemoteChange.Operation {
        if change["delete"]?.bool == true { return .delete }
        guard let record = change["record"] else {
            throw RecordError(.invalidArgument, "the change has no \"record\".")
        }
        let document = try RecordDocument(parsing: record.serialized(), schema: schema)
        return .upsert(document.fields, parent: document.parent)
    }
}
