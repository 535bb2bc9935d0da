package import RecordModel
import RecordStore
import Synchronization

/// The extended attributes of a record or asset (mount.md §7), in the order of `getfattr -d`.
extension Tree {
    private static let prefix = Array("user.recordfs.".utf8)

    package func attribute(_ name: [UInt8], of number: NodeNumber) throws(RecordError) -> [UInt8] {
        if name.starts(with: Array("system.posix_acl_".utf8)) {
            throw RecordError(.unsupported, "permissions come from the zone's share, not from ACLs")
        }
        guard name.starts(with: Self.prefix) else {
            if case .scratch(let id) = try node(number) {
                return try scratchFile(id).attribute(name)
            }
            throw Self.noAttribute
        }
        guard let value = try attributes(number).first(where: { $0.name == name })?.value else {
            throw Self.noAttribute
        }
        return value
    }

    package func attributeNames(of number: NodeNumber) throws(RecordError) -> [[UInt8]] {
        if case .scratch(let id) = try node(number) {
            return try scratchFile(id).attributeNames() + attributes(number).map(\.name)
        }
        return try attributes(number).map(\.name)
    }

    package func setAttribute(
        _ name: [UInt8], of number: NodeNumber, to value: [UInt8], flags: Int32
    ) throws(RecordError) {
        try checkWritable(try node(number))
        if name.starts(with: Array("system.posix_acl_".utf8)) {
            throw RecordError(.unsupported, "permissions come from the zone's share, not from ACLs")
        }
        if case .scratch(let id) = try node(number), !name.starts(with: Self.prefix) {
            return try scratchFile(id).setAttribute(name, to: value, flags: flags)
        }
        guard name.starts(with: Self.prefix) else {
            throw RecordError(.unsupported, "records have no attributes but user.recordfs.*")
        }
        guard name == Self.prefix + Array("state".utf8), value == Array("retry".utf8),
            case .record(let file) = try node(number)
        else {
            // `cp --preserve=xattr` and `rsync -X` copy them from record to record. Their values
            // belong to each record, so that setting them succeeds and changes nothing.
            return
        }
        try store.write(author: .mount) { transaction throws(RecordError) in
            try transaction.retryOutbox(file.record)
        }
    }

    package func removeAttribute(_ name: [UInt8], of number: NodeNumber) throws(RecordError) {
        try checkWritable(try node(number))
        // rsync -X removes the attributes that its source does not have.
        if name.starts(with: Self.prefix) { return }
        guard case .scratch(let id) = try node(number) else { throw Self.noAttribute }
        try scratchFile(id).removeAttribute(name)
    }

    private static let noAttribute = RecordError(.noSuchAttribute, "no such attribute")

    private typealias Attribute = (name: [UInt8], value: [UInt8])

    private func attributes(_ number: NodeNumber) throws(RecordError) -> [Attribute] {
        switch try node(number) {
        case .record(let file): try recordAttributeList(file.record)
        case .asset(let id): try assetAttributeList(id)
        case .scratch: [Self.attribute("state", "local")]
        case .root, .readme, .database, .owner, .zone, .type, .errorFile, .control, .share: []
        }
    }

    private static func attribute(_ name: String, _ value: some CustomStringConvertible)
        -> Attribute
    {
        (prefix + Array(name.utf8), Array("\(value)".utf8))
    }

    private func recordAttributeList(_ id: RecordID) throws(RecordError) -> [Attribute] {
        guard let entry = try store.record(id), let meta = try store.meta(of: id) else {
            // The first save has not happened: there is no record yet.
            return [Self.attribute("state", "draft")]
        }
        let place = try place(of: entry.type)
        var list = placeAttributes(place, meta)
        list.append((Self.prefix + Array("name".utf8), meta.name.bytes))
        if !meta.changeTag.isEmpty { list.append(Self.attribute("changeTag", meta.changeTag)) }
        list += [
            Self.attribute("created", meta.created.iso8601),
            Self.attribute("createdBy", meta.createdBy),
            Self.attribute("modified", meta.modified.iso8601),
            Self.attribute("modifiedBy", meta.modifiedBy),
            Self.attribute("generation", meta.generation),
            Self.attribute("state", try stateName(of: meta)),
        ]
        if let error = try errorText(of: meta) { list.append(Self.attribute("error", error)) }
        return list
    }

    /// Returns the value of `user.recordfs.state`: the state that is most important for the user.
    func stateName(of meta: RecordMeta) throws(RecordError) -> String {
        if try store.draft(of: meta.id) != nil { return "draft" }
        if try !place(of: meta.type).zone.database.isSynced { return "local" }
        if meta.refusal != nil { return "refused" }
        if meta.hasConflict { return "conflict" }
        return meta.isPending ? "pending" : "synced"
    }

    /// Returns the reason why the last save of a record, or its upload, was refused.
    func errorText(of meta: RecordMeta) throws(RecordError) -> String? {
        if let draft = try store.draft(of: meta.id) { return "\(draft.error)" }
        return meta.refusal
    }

    private func placeAttributes(_ place: TypePlace, _ meta: RecordMeta) -> [Attribute] {
        var list: [Attribute] = [
            Self.attribute("database", place.zone.database.name),
            (Self.prefix + Array("zone".utf8), place.zone.name.bytes),
            (Self.prefix + Array("type".utf8), place.type.bytes),
            Self.attribute("permission", meta.permissionName),
        ]
        if place.zone.owner != .me {
            list.append((Self.prefix + Array("owner".utf8), place.zone.owner.bytes))
        }
        return list
    }

    private func assetAttributeList(_ id: AssetID) throws(RecordError) -> [Attribute] {
        guard let entry = try store.asset(id) else { return [] }
        var list = [
            Self.attribute("size", entry.size),
            Self.attribute("downloaded", entry.isDownloaded ? 1 : 0),
        ]
        if let hash = entry.hash { list.append(Self.attribute("sha256", hash)) }
        return list
    }
}

extension RecordMeta {
    var permissionName: String { permission == .readWrite ? "READ_WRITE" : "READ_ONLY" }
}

extension Timestamp {
    var iso8601: String { ISO8601.print(milliseconds: milliseconds) }
}
