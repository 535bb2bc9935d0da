package import RecordModel

/// The record dictionary of an answer (reference §5.3).
package struct RecordAnswer: Hashable, Sendable {
    package let name: RecordName
    package let type: RecordTypeName
    package let changeTag: Text
    package var fields: [WireField] = []
    /// Fields that nobody here can read, such as those of a type that is not known: the
    /// dictionaries as they came.
    package var unknownFields: [JSONMember] = []
    package var created: StampAnswer?
    package var modified: StampAnswer?
    package var zone: ZoneIdentifier?
    package var parent: RecordName?
    /// The share of a root, and of the share itself.
    package var share: RecordName?
    package var shortGUID: Text?
    /// How a client has written it.
    package var fileText: Text?
    /// The same as a change of the text before.
    package var fileTextSplice: TextSplice?
    /// The tag of the state that the splices of the answer are changes of; nil where there are none.
    package var sinceTag: Text?
    /// Keys that are none of these, such as those of a share, as they came.
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
        unknownKeys = try json.object().filter { !Self.knownKeys.contains($0.key) }
    }

    private static let knownKeys: Set<Text> = [
        "recordName", "recordType", "recordChangeTag", "fields", "created", "modified", "zoneID",
        "parent", "share", "shortGUID", "deleted", "pluginFields",
        "fileText", "fileTextSplice", "sinceTag",
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
    /// Extensions:
    /// - `movedTo`: where it is now.
    /// - `changeTag`: that of the deletion, where who asks may know a later record of the name.
    case deleted(RecordName, movedTo: RecordAddress? = nil, changeTag: Text? = nil)
    /// Nil where the request named no record that could be echoed.
    case failed(RecordName?, WireError)
    /// What is no record by any rule: it is told and passed over, and does not hold up the others.
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
                    changeTag: try json.string("recordChangeTag"))
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
    /// `getCurrentSyncToken` asked for it, or a known token did.
    package let syncToken: Text?
    /// The same of the database's feed (an extension).
    package let databaseToken: Text?
    /// How much room the user has behind this, in bytes; with `databaseToken` and where something limits it.
    package let freeBytes: Int64?
    /// Where the next page of a query begins; nil after the last.
    package let continuationMarker: Text?
    /// Deleted roots of shares, each with what hung on it and is in no share now: at servers that tell it.
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
