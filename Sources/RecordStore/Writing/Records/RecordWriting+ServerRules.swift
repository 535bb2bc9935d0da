import RecordModel
import RecordSQL

/// Refuses a save that no server would ever accept. Otherwise the change would wait here forever,
/// and nobody would notice. Nothing of this applies in the database `local`.
extension RecordWriting {
    /// The limits of a new text in a place.
    func limits(_ place: TypePlace) -> RecordLimits {
        let limits = transaction.store.options.limits
        if transaction.author == .sync { return limits.asReceived }
        return place.zone.database.isSynced ? limits : limits.withoutServer
    }

    /// Parses a text that is to be stored.
    ///
    /// Errors: those of the text, also when it exceeds a limit of the server.
    func parseNew(_ text: [UInt8], _ place: TypePlace) throws(RecordError) -> RecordDocument {
        transaction.store.upkeep.noteText(bytes: text.count)
        return try RecordDocument(
            parsing: text, schema: try transaction.schema(of: place.name), limits: limits(place))
    }

    /// Checks a document against the rules of the server.
    ///
    /// - Parameter old: the record as it was; nil for a new one.
    ///
    /// Errors: invalidName, invalidRecord and tooLarge, with the action to take instead.
    func checkServerRules(
        _ document: RecordDocument, _ name: RecordName, _ place: TypePlace,
        replacing old: RecordDocument?
    ) throws(RecordError) {
        guard transaction.author != .sync, place.zone.database.isSynced else { return }
        if old == nil {
            try checkName(name, place.name)
            try checkTypeCount(place.name)
        }
        for field in document.fields {
            for reference in field.value.references {
                try check(reference, in: field.name, place.zone.name)
            }
            if let twin = field.name.twin, field.value.isEmptyText,
                case .asset? = document[twin]
            {
                throw RecordError(
                    .invalidRecord,
                    "field \"\(twin)\" has the long value of \"\(field.name)\" on the server while that "
                        + "is empty; give one of the two another name, or a value")
            }
        }
        if let parent = document.parent, parent != old?.parent {
            try checkParent(parent, of: name, place)
        }
    }

    /// Checks an object against the rules of the attached model.
    ///
    /// Errors: schemaMismatch with the place of the member.
    func checkModel(
        _ document: RecordDocument, replacing old: RecordDocument?
    ) throws(RecordError) {
        guard transaction.author != .sync, transaction.model != nil else { return }
        try document.checkRules(replacing: old)
    }

    private func checkName(_ name: RecordName, _ type: RecordTypeName) throws(RecordError) {
        guard name.isOfWire else {
            throw RecordError(
                .invalidName,
                "the name of a record has at most \(ServerLimits.nameBytes) bytes of UTF-8 without "
                    + "control characters, and this one, of \(name.bytes.count) bytes, is none; give "
                    + "it another name")
        }
        let isOfServer = !name.isFreeForClients && type != RecordTypeName("Users")
        guard !isOfServer, name != RecordName("cloudkit.zoneshare") else {
            throw RecordError(
                .invalidName,
                "a record whose name begins with _ is the server's, and so is cloudkit.zoneshare; "
                    + "give it another name")
        }
    }

    /// Checks the number of types. The server makes a type with its first record.
    private func checkTypeCount(_ type: RecordTypeName) throws(RecordError) {
        guard try transaction.schema(of: type).fields.isEmpty else { return }
        let others = try transaction.connection.first(
            """
            SELECT COUNT(DISTINCT t.name) FROM record_type t JOIN zone z ON z.id = t.zone_id
            WHERE z.database != ? AND t.name != ?
                AND EXISTS (SELECT 1 FROM record r WHERE r.type_id = t.id)
            """, [.integer(Database.local.rawValue), .name(type)]
        ) { Int(clamping: $0.int64(0)) }
        guard let others, others >= ServerLimits.typesPerContainer else { return }
        throw RecordError(
            .tooLarge,
            "the server has at most \(ServerLimits.typesPerContainer) record types, and this would be "
                + "one more; use a type that there is")
    }

    private func check(
        _ reference: Reference, in field: FieldName, _ zone: ZoneName
    ) throws(RecordError) {
        guard reference.name.isOfWire else {
            throw RecordError(
                .invalidRecord,
                "the reference in field \"\(field)\" is to no record: a name has at most "
                    + "\(ServerLimits.nameBytes) bytes without control characters, and this one, of "
                    + "\(reference.name.bytes.count) bytes, is none")
        }
        guard reference.action == .none || reference.zone == nil || reference.zone == zone else {
            throw RecordError(
                .invalidRecord,
                "the reference in field \"\(field)\" leads to another zone, where "
                    + "\(reference.action.rawValue) has no effect; leave \"action\" out")
        }
    }

    /// Checks that a record does not become its own descendant, up to the depth that the server
    /// follows.
    private func checkParent(
        _ parent: RecordName, of name: RecordName, _ place: TypePlace
    ) throws(RecordError) {
        guard parent.isOfWire else {
            throw RecordError(
                .invalidRecord,
                "\"$parent\" names no record: a name has at most \(ServerLimits.nameBytes) bytes "
                    + "without control characters, and this one, of \(parent.bytes.count) bytes, is "
                    + "none")
        }
        var seen: Set<RecordName> = []
        var next: RecordName? = parent
        while let ancestor = next, seen.insert(ancestor).inserted {
            guard ancestor != name else {
                throw RecordError(
                    .invalidRecord,
                    "\"$parent\" leads back to the record itself: a record cannot be its own ancestor"
                )
            }
            guard seen.count <= ServerLimits.parentDepth else { return }
            next = try transaction.connection.records.stored(named: ancestor, place.zone.id).flatMap
            {
                (record) throws(RecordError) -> RecordName? in
                guard let text = try transaction.connection.records.wholeSavedText(of: record.id)
                else {
                    return nil
                }
                return try parse(text, try self.transaction.place(record.entry.type)).parent
            }
        }
    }
}

extension FieldValue {
    /// The references in the value, or in the elements of a list.
    fileprivate var references: [Reference] {
        switch self {
        case .reference(let reference): [reference]
        case .list(let elements): elements.flatMap(\.references)
        default: []
        }
    }

    fileprivate var isEmptyText: Bool {
        switch self {
        case .string(let text): text.isEmpty
        case .bytes(let bytes): bytes.isEmpty
        default: false
        }
    }
}
