import RecordModel
import RecordStore

/// The extended attributes of a record or asset, in the order of `getfattr -d` (MountContract,
/// "Extended attributes").
final class ExtendedAttributes: Sendable {
    let access: NodePermissions
    let nodes: Nodes
    let places: TypeDirectories
    let recordStates: RecordStates
    let scratch: ScratchFiles
    let store: RecordStore

    init(_ ground: Ground, _ scratchRooms: ScratchRooms, _ namingRooms: NamingRooms) {
        access = namingRooms.access
        nodes = ground.nodes
        places = ground.places
        recordStates = ground.recordStates
        scratch = scratchRooms.scratch
        store = ground.store
    }

    private static let prefix = Array("user.recordfs.".utf8)

    func attribute(_ name: [UInt8], of number: NodeNumber) throws(RecordError) -> [UInt8] {
        if name.starts(with: Array("system.posix_acl_".utf8)) {
            throw RecordError(.unsupported, "permissions come from the zone's share, not from ACLs")
        }
        guard name.starts(with: Self.prefix) else {
            if case .scratch(let id) = try nodes.node(number) {
                return try scratch.file(id).attribute(name)
            }
            throw Self.noAttribute
        }
        guard let value = try attributes(number).first(where: { $0.name == name })?.value else {
            throw Self.noAttribute
        }
        return value
    }

    func attributeNames(of number: NodeNumber) throws(RecordError) -> [[UInt8]] {
        if case .scratch(let id) = try nodes.node(number) {
            return try scratch.file(id).attributeNames() + attributes(number).map(\.name)
        }
        return try attributes(number).map(\.name)
    }

    func setAttribute(
        _ name: [UInt8], of number: NodeNumber, to value: [UInt8], flags: Int32
    ) throws(RecordError) {
        try access.checkWritable(try nodes.node(number))
        if name.starts(with: Array("system.posix_acl_".utf8)) {
            throw RecordError(.unsupported, "permissions come from the zone's share, not from ACLs")
        }
        if case .scratch(let id) = try nodes.node(number), !name.starts(with: Self.prefix) {
            return try scratch.file(id).setAttribute(name, to: value, flags: flags)
        }
        guard name.starts(with: Self.prefix) else {
            throw RecordError(.unsupported, "records have no attributes but user.recordfs.*")
        }
        guard name == Self.prefix + Array("state".utf8), value == Array("retry".utf8),
            case .record(let file) = try nodes.node(number)
        else {
            // `cp --preserve=xattr` and `rsync -X` copy them from record to record. Their values
            // belong to each record, so that setting them succeeds and changes nothing.
            return
        }
        try store.write(author: .mount) { transaction throws(RecordError) in
            try transaction.outbox.retryOutbox(file.record)
        }
    }

    func removeAttribute(_ name: [UInt8], of number: NodeNumber) throws(RecordError) {
        try access.checkWritable(try nodes.node(number))
        // rsync -X removes the attributes that its source does not have.
        if name.starts(with: Self.prefix) { return }
        guard case .scratch(let id) = try nodes.node(number) else { throw Self.noAttribute }
        try scratch.file(id).removeAttribute(name)
    }

    private static let noAttribute = RecordError(.noSuchAttribute, "no such attribute")
    private typealias Attribute = (name: [UInt8], value: [UInt8])

    private func attributes(_ number: NodeNumber) throws(RecordError) -> [Attribute] {
        switch try nodes.node(number) {
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
        let place = try places.place(of: entry.type)
        var list = placeAttributes(place, meta)
        list.append((Self.prefix + Array("name".utf8), meta.name.bytes))
        if !meta.changeTag.isEmpty { list.append(Self.attribute("changeTag", meta.changeTag)) }
        list += [
            Self.attribute("created", meta.created.iso8601),
            Self.attribute("createdBy", meta.createdBy),
            Self.attribute("modified", meta.modified.iso8601),
            Self.attribute("modifiedBy", meta.modifiedBy),
            Self.attribute("generation", meta.generation),
            Self.attribute("state", try recordStates.stateName(of: meta)),
        ]
        if let error = try recordStates.errorText(of: meta) {
            list.append(Self.attribute("error", error))
        }
        return list
    }

    private func placeAttributes(_ place: TypeDirectory, _ meta: RecordMeta) -> [Attribute] {
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
        guard let entry = try store.assets.asset(id) else { return [] }
        var list = [
            Self.attribute("size", entry.size),
            Self.attribute("downloaded", entry.isDownloaded ? 1 : 0),
        ]
        if let hash = entry.hash { list.append(Self.attribute("sha256", hash)) }
        return list
    }
}
