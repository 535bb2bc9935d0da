import RecordModel
import RecordWire

extension ModifyPlan {
    /// Evaluates one operation on an ordinary record, without the others.
    mutating func evaluate(
        _ operation: RecordOperation, _ name: RecordName, _ index: Int
    ) throws(ServerError) {
        let visible = try visibleRecord(name)
        if operation.type.mayCreate, visible == nil {
            // A caller who may make no record does not learn which names are taken. No caller
            // learns it before everything else about the new record is right.
            try visibility.decide(.createSomewhere).require()
            try overlay.conceal(name)
            // Children of a deleted record of this name would move into the share of the new one.
            if isParticipant, visible == nil, try hasStoredChildren(name) {
                overlay.concealAlways(name)
            }
        }
        switch operation.type {
        case .create:
            if let visible { throw alreadyExists(visible, index) }
            try create(operation, name, index)
        case .update, .replace:
            guard let visible else { throw notFound(index) }
            try requireTag(operation.record, visible, index)
            try change(visible, operation, index)
        case .forceUpdate, .forceReplace:
            if let visible {
                try change(visible, operation, index)
            } else {
                try create(operation, name, index)
            }
        case .delete, .forceDelete:
            try delete(visible, operation, index)
        }
    }

    /// Returns the stored record, if the caller may see it.
    mutating func visibleRecord(_ name: RecordName) throws(ServerError) -> StoredRecord? {
        guard let stored = try overlay.stored(name), isVisible(stored) else { return nil }
        return stored
    }

    func isVisible(_ record: StoredRecord) -> Bool { visibility.shows(record) }

    private mutating func create(
        _ operation: RecordOperation, _ name: RecordName, _ index: Int
    ) throws(ServerError) {
        try checkName(name, operation.record.type, index)
        guard let type = operation.record.type else {
            throw ServerError(
                .badRequest,
                "operations[\(index)].record.recordType is missing: a new record needs one.")
        }
        try visibility.decide(.create(type)).require()
        let record = StoredRecord(
            name: name, type: type, tag: 0, position: 0, fields: Array("{}".utf8), created: stamp,
            modified: stamp)
        try save(record, before: nil, operation, index)
    }

    private mutating func change(
        _ stored: StoredRecord, _ operation: RecordOperation, _ index: Int
    ) throws(ServerError) {
        if let type = operation.record.type, type != stored.type {
            throw ServerError(
                .badRequest,
                "operations[\(index)].record.recordType: the record is a \(stored.type), and a "
                    + "record keeps its type.")
        }
        try visibility.decide(.change(RecordFacts(stored))).require()
        try save(stored, before: stored, operation, index)
    }

    private mutating func delete(
        _ stored: StoredRecord?, _ operation: RecordOperation, _ index: Int
    ) throws(ServerError) {
        let tag = operation.record.changeTag
        if operation.type == .delete, tag == nil, settings.isStrict {
            throw missingTag(index)
        }
        guard let stored else {
            // Deleting twice is no error, unless the caller names the version that it deletes.
            guard operation.type == .delete, tag != nil else { return }
            throw notFound(index)
        }
        if operation.type == .delete, tag != nil { try requireTag(operation.record, stored, index) }
        if isParticipant, let name = stored.share,
            try overlay.share(zone, name)?.root == stored.name
        {
            steps[index].outcome = .left(share: name)
            return
        }
        try visibility.decide(.delete(RecordFacts(stored))).require()
        steps[index].outcome = .deleted(stored)
    }

    /// Plans the record with the fields, parent and short GUID of the operation.
    private mutating func save(
        _ base: StoredRecord, before: StoredRecord?, _ operation: RecordOperation, _ index: Int
    ) throws(ServerError) {
        var plan = PlannedRecord(operation: index, isOwn: true, before: before, record: base)
        plan.record.modified = stamp
        plan.record.gesture = operation.record.gesture
        plan.record.fileText = try fileText(operation.record, of: base, index)
        try setParent(&plan, operation, index)
        if operation.record.createShortGUID, plan.record.shortGUID == nil {
            plan.record.shortGUID = ids.shortGUID()
        }
        try setFields(&plan, operation, index)
        steps[index].outcome = .saved(plan)
    }

    /// Sets the parent. Participants neither see nor change the ancestors of the root of a share:
    /// without a parent, they send the root back as they have it.
    private func setParent(
        _ plan: inout PlannedRecord, _ operation: RecordOperation, _ index: Int
    ) throws(ServerError) {
        let isHidden = plan.before != nil && access.hidesParent(of: plan.record.name)
        switch operation.record.parent {
        case .unchanged: break
        case .cleared: if !isHidden { plan.record.parent = nil }
        case .record(let parent):
            if isHidden {
                let path = "operations[\(index)].record.parent"
                try visibility.decide(.giveRootParent(path: path)).require()
            }
            plan.record.parent = parent
        }
    }

    /// Merges the fields of the operation into those of the record, with the types of the schema.
    mutating func setFields(
        _ plan: inout PlannedRecord, _ operation: RecordOperation, _ index: Int
    ) throws(ServerError) {
        let replacing = operation.type == .replace || operation.type == .forceReplace
        let path = "operations[\(index)].record"
        if operation.record.fields.isEmpty, !replacing, plan.before != nil { return }
        let stored = try storedFields(plan)
        let whole = try operation.record.fields.map { (field) throws(ServerError) in
            try Self.whole(field, in: stored, path)
        }
        var given = try resolve(whole, type: plan.record.type, path: path)
        try verifyAssets(&given, stored: stored, record: plan.record.name, path: path)
        let merged = RecordContent.merge(stored, with: given, replacing: replacing)
        let content = try RecordContent(fields: merged, zone: zone, path: path)
        let bytes = merged.countedBytes
        guard bytes <= settings.recordBytes else {
            throw ServerError(
                .limitExceeded,
                "\(path).fields: a record may have \(settings.recordBytes) bytes without its "
                    + "assets, and this one would have \(bytes).")
        }
        try checkCounts(of: merged, path)
        plan.content = content
        plan.record.fields = FieldsCodec.encode(merged)
        plan.record.hasAssets = !content.assets.isEmpty
    }

    /// Returns the whole text of a field that the client sends as a change of the stored text.
    private static func whole(
        _ field: WireField, in stored: [WireField], _ path: String
    ) throws(ServerError) -> WireField {
        guard let splice = field.splice else { return field }
        guard case .string(let old)? = stored.first(where: { $0.name == field.name })?.value,
            let text = splice.applied(to: old.utf8)
        else {
            throw ServerError(
                .badRequest,
                "\(path).fields.\(field.name): \(TextSplice.tag) does not fit the text that there is."
            )
        }
        var whole = field
        whole.splice = nil
        whole.value = .string(Text(utf8: text))
        return whole
    }

    private func fileText(
        _ record: RecordDictionary, of base: StoredRecord, _ index: Int
    ) throws(ServerError) -> Text? {
        guard let splice = record.fileTextSplice else { return record.fileText }
        guard let old = base.fileText, let text = splice.applied(to: old.utf8),
            text.count <= RecordLimits.fileTextBytes
        else {
            throw ServerError(
                .badRequest,
                "operations[\(index)].record.fileTextSplice does not fit the text that there is.")
        }
        return Text(utf8: text)
    }

    private func checkCounts(of fields: [WireField], _ path: String) throws(ServerError) {
        var (elements, references, assets) = (0, 0, 0)
        for value in fields.compactMap(\.value) {
            if case .list(let values) = value { elements += values.count }
            for part in value.elements {
                switch part {
                case .reference: references += 1
                case .asset: assets += 1
                default: break
                }
            }
        }
        for (count, most, what) in [
            (elements, ServerLimits.listElements, "list elements"),
            (references, ServerLimits.references, "references"),
            (assets, ServerLimits.assets, "assets"),
        ] where count > most {
            throw ServerError(
                .limitExceeded,
                "\(path).fields: a record may have \(most) \(what), and this one would have \(count)."
            )
        }
    }

    /// Returns the stored fields. They stay in memory until the end, beside the record as it is and
    /// as it will be.
    private mutating func storedFields(
        _ plan: PlannedRecord
    ) throws(ServerError) -> [WireField] {
        guard plan.before != nil else { return [] }
        let bytes = plan.record.fields
        try overlay.hold(FieldsCodec.decodedBytes(bytes) + bytes.count)
        return try FieldsCodec.decode(bytes)
    }

    /// Returns the fields as the schema types them, and adds to the schema where that is allowed.
    mutating func resolve(
        _ fields: [WireField], type: RecordTypeName, path: String
    ) throws(ServerError) -> [WireField] {
        let resolved: (fields: [WireField], grown: ContainerSchema?)
        do throws(ServerError) {
            resolved = try schema.resolve(
                type: type, fields: fields, environment: context.container.environment,
                settings: settings, opensNumbers: opensNumbers)
        } catch {
            throw error.isFault ? error : error.under(path)
        }
        if let grown = resolved.grown {
            schema = grown
            hasSchemaGrown = true
        }
        return resolved.fields
    }

    /// Checks that every asset was uploaded for this record and field, or is there already.
    private func verifyAssets(
        _ fields: inout [WireField], stored: [WireField], record: RecordName, path: String
    ) throws(ServerError) {
        for index in fields.indices {
            guard let value = fields[index].value, value.elements.contains(where: \.isAsset) else {
                continue
            }
            let name = fields[index].name
            let current = (stored.first { $0.name == name }?.value?.elements ?? [])
                .compactMap(\.asset)
            var checked: [WireValue] = []
            for element in value.elements {
                guard let asset = element.asset else { continue }
                do throws(ServerError) {
                    checked.append(
                        .asset(
                            try AssetRules.verify(
                                asset, current: current, record: record, field: name,
                                access: access, context: context, resources: resources,
                                reader: transaction)))
                } catch {
                    throw error.isFault ? error : error.under("\(path).fields.\(name)")
                }
            }
            if case .list = value {
                fields[index].value = .list(checked)
            } else {
                fields[index].value = checked.first
            }
        }
    }
}

extension RecordOperationType {
    /// Indicates whether the operation makes a record that does not exist.
    var mayCreate: Bool {
        switch self {
        case .create, .forceUpdate, .forceReplace: true
        case .update, .replace, .delete, .forceDelete: false
        }
    }
}

extension WireValue {
    var asset: WireAsset? {
        if case .asset(let asset) = self { asset } else { nil }
    }
    fileprivate var isAsset: Bool { asset != nil }
}

extension ServerError {
    /// Returns the error with the place in the request before its reason.
    func under(_ path: String) -> ServerError {
        ServerError(
            code, "\(path): \(reason)", retryAfter: retryAfter, redirectURL: redirectURL,
            serverRecord: serverRecord)
    }
}
