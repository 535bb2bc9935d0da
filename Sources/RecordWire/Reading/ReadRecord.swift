import RecordModel

extension RecordDictionary {
    /// Reads a record dictionary of a request. Keys that only answers have are ignored.
    package init(_ json: JSONReader, limits: RequestLimits = .standard) throws(ServerError) {
        _ = try json.object()
        self.init(
            name: try json["recordName"].map(RecordName.init(_:)),
            type: try json["recordType"].map(RecordTypeName.init(_:)))
        changeTag = try json.string("recordChangeTag", maximumBytes: 64)
        fields = try Self.fields(json["fields"], mayBeShare: type == nil || type == .share, limits)
        parent = try Self.parent(json)
        createShortGUID = try json.bool("createShortGUID", default: false)
        fileText = try json.string("fileText", maximumBytes: RecordLimits.fileTextBytes)
        fileTextSplice = try json["fileTextSplice"].map(TextSplice.init(_:))
        gesture = try json.string("gesture", maximumBytes: GestureOrigin.maximumBytes)
        movedTo = try json["movedTo"].map { (json) throws(ServerError) in
            try RecordAddress(json)
        }
        if type == .share || Self.shareKeys.contains(where: { json[$0] != nil }) {
            share = try ShareDictionary(json)
        }
    }

    private static let shareKeys = [
        "forRecord", "publicPermission", "participants", "denyAccessRequests", "requesters",
        "blocked", "oneTimeStableUrlInfo",
    ]

    private static func fields(
        _ json: JSONReader?, mayBeShare: Bool, _ limits: RequestLimits
    ) throws(ServerError) -> [WireField] {
        guard let json else { return [] }
        var fields: [WireField] = []
        for member in try json.object() {
            let name = FieldName(bytes: member.key.utf8)
            let path = JSONPath.member(JSONPath.printable(name.bytes), of: json.path)
            let field = JSONReader(member.value, at: path)
            guard name.isValid || (mayBeShare && name.isShareField) else {
                throw field.error(FieldName.rule)
            }
            fields.append(try WireField(name: name, field, limits: limits))
        }
        return fields
    }

    /// Reads the parent. An absent key means unchanged. null, or a reference without a name, means
    /// none.
    private static func parent(_ json: JSONReader) throws(ServerError) -> Parent {
        guard let value = json.value["parent"] else { return .unchanged }
        guard !value.isNull else { return .cleared }
        let parent = try json.required("parent")
        _ = try parent.object()
        guard let name = parent["recordName"] else { return .cleared }
        return .record(try RecordName(name))
    }
}

extension ShareDictionary {
    /// The number of participants that a dictionary may list. A share's own limit is lower.
    static let maximumParticipants = 1_000

    /// Reads the share-only keys of a record dictionary.
    package init(_ json: JSONReader) throws(ServerError) {
        self.init()
        if let forRecord = json["forRecord"] {
            root = try RecordName(try forRecord.required("recordName"))
            rootChangeTag = try forRecord.string("recordChangeTag", maximumBytes: 64)
        }
        publicPermission = try json.choice("publicPermission")
        try readAccess(json)
        guard let list = json["participants"] else { return }
        var read: [ParticipantDictionary] = []
        for participant in try list.array(maximum: Self.maximumParticipants) {
            read.append(try ParticipantDictionary(participant))
        }
        participants = read
    }
}

extension ParticipantDictionary {
    /// Reads a participant in the form in which clients send it, also one copied from an answer.
    package init(_ json: JSONReader) throws(ServerError) {
        _ = try json.object()
        let identity = json["userIdentity"]
        _ = try identity?.object()
        var lookup = try identity?["lookupInfo"].map(UserLookup.init(_:)) ?? UserLookup()
        if let name = identity?["userRecordName"] { lookup.userName = try UserName(name) }
        let id = try json.either("participantId", "participantID")
        self.init(
            participantID: try id?.string(maximumBytes: 128), lookup: lookup,
            type: try json.choice("type"),
            permission: try json.choice("permission"),
            status: try json.choice("acceptanceStatus"))
        guard participantID != nil || !lookup.isEmpty else {
            throw json.error(
                "names nobody: it needs participantId, or userIdentity with userRecordName or "
                    + "lookupInfo.")
        }
    }
}
