package import RecordModel

/// The record dictionary of an answer (CloudKit Web Services Reference, Types and Dictionaries).
package struct RecordAnswer: Hashable, Sendable {
    package let name: RecordName
    package let type: RecordTypeName
    package let changeTag: Text
    package var fields: [WireField] = []
    /// The dictionaries of fields that this machine cannot read, such as those of an unknown type,
    /// as they were received.
    package var unknownFields: [JSONMember] = []
    package var created: StampAnswer?
    package var modified: StampAnswer?
    package var zone: ZoneIdentifier?
    package var parent: RecordName?
    /// The share of a root, or the name of the share itself.
    package var share: RecordName?
    package var shortGUID: Text?
    /// The text of the file as a client has written it.
    package var fileText: Text?
    /// The file text, written as a change of the text before.
    package var fileTextSplice: TextSplice?
    /// The tag of the state to which the splices of the answer apply. It is nil when there are
    /// none.
    package var sinceTag: Text?
    /// The origin of the last change, as its client has told it.
    package var gesture: Text?
    /// All other keys, such as those of a share, as they were received.
    package var unknownKeys: [JSONMember] = []

    package init(name: RecordName, type: RecordTypeName, changeTag: Text) {
        self.name = name
        self.type = type
        self.changeTag = changeTag
    }

    package init(_ json: JSONReader) throws(ServerError) {
        self.init(
            name: try RecordName(try json.required("recordName")),
            type: try RecordTypeName(try json.required("recordType")),
            changeTag: try json.required("recordChangeTag").string())
        for member in try json["fields"]?.object() ?? [] { read(member) }
        created = try json["created"].map(StampAnswer.init(_:))
        modified = try json["modified"].map(StampAnswer.init(_:))
        zone = try json["zoneID"].map(ZoneIdentifier.init(_:))
        parent = try json["parent"]?["recordName"].map(RecordName.init(_:))
        share = try json["share"]?["recordName"].map(RecordName.init(_:))
        shortGUID = try json.string("shortGUID")
        fileText = try json.string("fileText")
        fileTextSplice = try json["fileTextSplice"].map(TextSplice.init(_:))
        sinceTag = try json.string("sinceTag")
        gesture = try json.string("gesture")
        unknownKeys = try json.object().filter { !Self.knownKeys.contains($0.key) }
    }

    private static let knownKeys: Set<Text> = [
        "recordName", "recordType", "recordChangeTag", "fields", "created", "modified", "zoneID",
        "parent", "share", "shortGUID", "deleted", "pluginFields",
        "fileText", "fileTextSplice", "sinceTag", "gesture",
    ]

    private mutating func read(_ member: JSONMember) {
        let name = FieldName(bytes: member.key.utf8)
        do throws(ServerError) {
            guard name.isValid || name.isShareField else {
                throw ServerError(.badRequest, FieldName.rule)
            }
            fields.append(try WireField(name: name, JSONReader(member.value)))
        } catch {
            unknownFields.append(member)
        }
    }
}

/// One record of an answer.
package enum RecordItem: Hashable, Sendable {
    case record(RecordAnswer)
    /// A deleted record. Extensions:
    /// - `movedTo`: the place where it is now.
    /// - `changeTag`: the tag of the deletion, when the requester may know a later record with the
    ///   name.
    /// - `gesture`: the origin of the deletion.
    case deleted(
        RecordName, movedTo: RecordAddress? = nil, changeTag: Text? = nil, gesture: Text? = nil)
    /// A failure. The name is nil when the request named no record that could be echoed.
    case failed(RecordName?, WireError)
    /// An item that is no record by any rule. It is reported and skipped, and does not delay the
    /// others.
    case unreadable(ServerError)

    package init(_ json: JSONReader) {
        do throws(ServerError) {
            let name = json["recordName"]
            if let error = try WireError(json) {
                self = .failed(try name.map(RecordName.init(_:)), error)
            } else if try json.bool("deleted", default: false) {
                self = .deleted(
                    try RecordName(try json.required("recordName")),
                    movedTo: try json["movedTo"].map(RecordAddress.init(_:)),
                    changeTag: try json.string("recordChangeTag"),
                    gesture: try json.string("gesture"))
            } else {
                self = .record(try RecordAnswer(json))
            }
        } catch {
            self = .unreadable(error)
        }
    }
}

/// The answer to records/modify, records/lookup and records/query.
package struct RecordsAnswer: Hashable, Sendable {
    package let items: [RecordItem]
    /// The sync token, when `getCurrentSyncToken` or a known token asked for it.
    package let syncToken: Text?
    /// The sync token of the database's feed (an extension).
    package let databaseToken: Text?
    /// The room that the user has after this request, in bytes. It is there with `databaseToken`,
    /// when the room is limited.
    package let freeBytes: Int64?
    /// The place where the next page of a query begins. It is nil after the last page.
    package let continuationMarker: Text?
    /// The deleted roots of shares, each with its former children, which are in no share now. Only
    /// some servers send it.
    package let unsharedChildren: [RecordName: [RecordName]]

    package init(_ json: JSONReader) throws(ServerError) {
        let records = try json.required("records").array()
        items = records.map { RecordItem($0) }
        var unshared: [RecordName: [RecordName]] = [:]
        for record in records {
            guard let children = record["unsharedChildren"], let name = record["recordName"] else {
                continue
            }
            unshared[try RecordName(name)] = try children.array().map {
                (child) throws(ServerError) in
                try RecordName(child)
            }
        }
        unsharedChildren = unshared
        syncToken = try json.string("syncToken")
        databaseToken = try json.string("databaseSyncToken")
        freeBytes = try json["freeBytes"]?.int64()
        continuationMarker = try json.string("continuationMarker")
    }
}

extension StampAnswer {
    package init(_ json: JSONReader) throws(ServerError) {
        self.init(
            milliseconds: try json.required("timestamp").milliseconds(ValueRules()),
            user: try json["userRecordName"].map(UserName.init(_:)) ?? UserName(bytes: []),
            device: try json.string("deviceID") ?? "")
    }
}
