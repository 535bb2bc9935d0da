package import RecordModel
package import RecordWire

/// Prints record dictionaries for one viewer of one zone (CloudKit Web Services Reference,
/// Types and Dictionaries).
///
/// Stored fields are copied as they are, unless the projection, the settings or assets need
/// something else.
package struct RecordPrinter {
    private let resources: ServiceResources
    private let access: ZoneAccess
    private let context: OperationContext
    private let reader: (any StorageReader)?
    private let options: ValueOptions
    private let zone: JSONBytes
    private var projection: RecordProjection
    private var shares: [RecordName: ShareRow?] = [:]
    /// The position up to which the reader of a feed knows it. It is nil when texts are not sent as
    /// changes.
    var knownPosition: Int64?

    /// Makes a printer. `reader` is used for shares only, and may be nil when no record shows one.
    package init(
        resources: ServiceResources, access: ZoneAccess, context: OperationContext,
        projection: RecordProjection, reader: (any StorageReader)?
    ) {
        self.resources = resources
        self.access = access
        self.context = context
        self.reader = reader
        self.projection = projection
        options = ValueOptions(
            numbersAsStrings: projection.numbersAsStrings,
            plainListTags: resources.settings.plainListTags)
        var zone = AnswerWriter(capacity: 128)
        access.identifier.write(to: &zone)
        self.zone = zone.json
    }

    /// Writes a record that exists and is visible.
    package mutating func write(
        _ record: StoredRecord, to answer: inout AnswerWriter
    ) throws(ServerError) {
        if projection.isBrief { return try writeBrief(record, to: &answer) }
        try answer.object { answer throws(ServerError) in
            answer.member("recordName", record.name)
            answer.member("recordType", record.type)
            answer.key("fields")
            try writeFields(of: record, to: &answer)
            writeFileText(of: record, to: &answer)
            writeGesture(of: record, to: &answer)
            answer.member("pluginFields", object: { _ in })
            answer.member("recordChangeTag", record.changeTag)
            answer.member("created", StampAnswer(record.created))
            answer.member("modified", StampAnswer(record.modified))
            answer.member("deleted", false)
            answer.member("zoneID", zone)
            if let parent = access.shown(record).parent {
                answer.member("parent", object: { $0.member("recordName", parent) })
            }
            try writeShare(of: record, to: &answer)
        }
    }

    /// Writes a record without the keys that a client of the extension does not use. When the
    /// client does not want the fields of a record, it knows everything except the tag, because it
    /// has sent the record.
    private mutating func writeBrief(
        _ record: StoredRecord, to answer: inout AnswerWriter
    ) throws(ServerError) {
        let isOnlyTag = projection.desiredKeys?.isEmpty == true
        try answer.object { answer throws(ServerError) in
            answer.member("recordName", record.name)
            answer.member("recordType", record.type)
            answer.member("recordChangeTag", record.changeTag)
            guard !isOnlyTag else { return }
            if let before = before(record) {
                try write(record, asChangeOf: before, to: &answer)
            } else {
                answer.key("fields")
                try writeFields(of: record, to: &answer)
                writeFileText(of: record, to: &answer)
            }
            writeGesture(of: record, to: &answer)
            answer.member("created", object: record.created.writeBrief)
            answer.member("modified", object: record.modified.writeBrief)
            if let parent = access.shown(record).parent {
                answer.member("parent", object: { $0.member("recordName", parent) })
            }
            try writeShare(of: record, to: &answer)
        }
    }

    private func before(_ record: StoredRecord) -> StoredRecord? {
        guard let knownPosition, projection.desiredKeys == nil, !projection.numbersAsStrings,
            case .owner = access.view
        else { return nil }
        return resources.recent.before(record, in: access.zone.key, knownTo: knownPosition)
    }

    /// Writes all fields, with the long texts as changes.
    private func write(
        _ record: StoredRecord, asChangeOf before: StoredRecord, to answer: inout AnswerWriter
    ) throws(ServerError) {
        try context.hold(
            answer.count + FieldsCodec.decodedBytes(record.fields)
                + FieldsCodec.decodedBytes(before.fields))
        let old = try FieldsCodec.decode(before.fields)
        let fields = try FieldsCodec.decode(record.fields)
        answer.member("sinceTag", before.changeTag)
        answer.key("fields")
        answer.object { answer in
            for field in fields {
                answer.key(escaping: field.name.bytes)
                var shown = withURLs(field, record)
                if case .string(let text)? = field.value, !field.isEncrypted,
                    case .string(let known)? = old.first(where: { $0.name == field.name })?.value,
                    let splice = TextSplice(from: known.utf8, to: text.utf8)
                {
                    (shown.splice, shown.value) = (splice, nil)
                }
                shown.write(to: &answer, options: options)
            }
        }
        guard projection.wantsFileText, let text = record.fileText else { return }
        if let known = before.fileText,
            let splice = TextSplice(from: known.utf8, to: text.utf8)
        {
            answer.key("fileTextSplice")
            splice.write(to: &answer)
        } else {
            answer.member("fileText", text)
        }
    }

    /// Returns the record for the error of a conflict: all fields, whatever the request desires.
    mutating func serverRecord(_ record: StoredRecord) throws(ServerError) -> JSONBytes {
        try bytes(record, desiredKeys: nil)
    }

    /// Returns the dictionary alone.
    package mutating func bytes(_ record: StoredRecord) throws(ServerError) -> JSONBytes {
        try bytes(record, desiredKeys: projection.desiredKeys)
    }

    private mutating func bytes(
        _ record: StoredRecord, desiredKeys: [FieldName]?
    ) throws(ServerError) -> JSONBytes {
        var answer = AnswerWriter(capacity: record.bytes + 512)
        try write(record, desiredKeys: desiredKeys, to: &answer)
        return answer.json
    }

    /// Writes one record with other keys than those of the request.
    package mutating func write(
        _ record: StoredRecord, desiredKeys: [FieldName]?, to answer: inout AnswerWriter
    ) throws(ServerError) {
        let usual = projection.desiredKeys
        projection.desiredKeys = desiredKeys
        defer { projection.desiredKeys = usual }
        try write(record, to: &answer)
    }

    /// Returns whether the answer has the fields as they are stored, or none of them.
    static func copiesFields(
        of record: StoredRecord, _ projection: RecordProjection, _ settings: ServiceSettings
    ) -> Bool {
        if let keys = projection.desiredKeys { return keys.isEmpty }
        return !projection.numbersAsStrings && !settings.plainListTags && !record.hasAssets
    }

    private func writeFields(
        of record: StoredRecord, to answer: inout AnswerWriter
    ) throws(ServerError) {
        if Self.copiesFields(of: record, projection, resources.settings) {
            answer.splice(projection.desiredKeys == nil ? record.fields : Array("{}".utf8))
            return
        }
        try context.hold(answer.count + FieldsCodec.decodedBytes(record.fields))
        var fields = try FieldsCodec.decode(record.fields)
        if let keys = projection.desiredKeys {
            let wanted = Set(keys)
            fields = fields.filter { wanted.contains($0.name) }
        }
        answer.object { answer in
            for field in fields {
                answer.key(escaping: field.name.bytes)
                withURLs(field, record).write(to: &answer, options: options)
            }
        }
    }

    /// Writes the file text. It is written together with all fields only, and not when it may name
    /// a parent that is not shown.
    private func writeFileText(of record: StoredRecord, to answer: inout AnswerWriter) {
        guard projection.wantsFileText, projection.desiredKeys == nil,
            access.shown(record).parent == record.parent
        else { return }
        answer.member("fileText", record.fileText)
    }

    private func writeGesture(of record: StoredRecord, to answer: inout AnswerWriter) {
        if projection.wantsGestures { answer.member("gesture", record.gesture) }
    }

    /// Returns the field with the URL of each of its assets.
    private func withURLs(_ field: WireField, _ record: StoredRecord) -> WireField {
        guard record.hasAssets, let value = field.value else { return field }
        var field = field
        switch value {
        case .asset(let asset): field.value = .asset(withURL(asset, field.name, record))
        case .list(let elements):
            field.value = .list(
                elements.map { element in
                    element.asset.map { .asset(withURL($0, field.name, record)) } ?? element
                })
        default: break
        }
        return field
    }

    private func withURL(
        _ asset: WireAsset, _ field: FieldName, _ record: StoredRecord
    ) -> WireAsset {
        var asset = asset
        if !projection.wantsAssetDetails { (asset.sha256, asset.fileExtension) = (nil, nil) }
        asset.downloadURL = AssetRules.downloadURL(
            asset, record: record.name, field: field, access: access, context: context,
            resources: resources)
        return asset
    }

    /// Writes the reference to the share and its short GUID, on a root and on a share. On a share,
    /// also writes its participants.
    private mutating func writeShare(
        of record: StoredRecord, to answer: inout AnswerWriter
    ) throws(ServerError) {
        guard record.type == .share else {
            answer.member("shortGUID", record.shortGUID)
            if record.shortGUID != nil, let name = record.share,
                try share(name)?.root == record.name
            {
                writeReference(to: name, &answer)
            }
            return
        }
        guard let share = try share(record.name), let reader else { return }
        writeReference(to: record.name, &answer)
        let members = try ShareRules.members(
            of: share, for: access.user?.name,
            telling: ShareExtensions(context, resources.settings), reader)
        for member in members {
            answer.key(escaping: member.key.utf8)
            answer.tree(member.value)
        }
        guard context.dialect == .webServices else { return }
        if let root = share.root {
            answer.member("forRecord", object: { $0.member("recordName", root) })
        }
        answer.member(
            "url",
            ShareURL.text(
                share, title: try SharePreview(of: record).title, baseURL: context.baseURL))
    }

    private func writeReference(to share: RecordName, _ answer: inout AnswerWriter) {
        answer.member(
            "share",
            object: { answer in
                answer.member("recordName", share)
                answer.member("zoneID", zone)
            })
    }

    private mutating func share(_ name: RecordName) throws(ServerError) -> ShareRow? {
        if let known = shares[name] { return known }
        guard let reader else {
            throw ServerError(.internalError, "A share was to be printed without the storage.")
        }
        let found = try reader.share(access.zone.key, name)
        shares[name] = .some(found)
        return found
    }
}

extension ZoneAccess {
    /// The zoneID dictionary of answers. The public database has no owner to name.
    package var identifier: ZoneIdentifier {
        ZoneIdentifier(
            zone: zone.key.zone,
            owner: zone.key.database.isPublic ? nil : zone.key.database.owner)
    }
}

extension WriteStamp {
    fileprivate func writeBrief(to answer: inout AnswerWriter) {
        answer.member("timestamp", milliseconds)
        answer.member("userRecordName", user)
    }
}

extension StampAnswer {
    package init(_ stamp: WriteStamp) {
        self.init(
            milliseconds: stamp.milliseconds, user: stamp.user, device: stamp.device)
    }
}
