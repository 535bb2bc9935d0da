package import RecordModel

/// A place in the tree of records, spelled as on the mount: `private/Kitchen/Recipe/soup.json`.
///
/// Each level is optional: the empty path is the root. `shared` alone lists owners, so its zones
/// have one component more: `shared/OWNER/ZONE/TYPE/NAME`.
package struct RecordPath: Hashable, Sendable {
    /// The object that the last component of a path below a type names.
    package enum Item: Hashable, Sendable {
        case record(Stem)
        case asset(stem: Stem, field: FieldName, index: Int?, fileExtension: [UInt8])
    }

    package let database: Database?
    /// The owner. It is `.me` except below `shared/OWNER`.
    package let owner: OwnerName
    package let zone: ZoneName?
    package let type: RecordTypeName?
    package let item: Item?

    package init(
        database: Database? = nil, owner: OwnerName = .me, zone: ZoneName? = nil,
        type: RecordTypeName? = nil, item: Item? = nil
    ) {
        self.database = database
        self.owner = owner
        self.zone = zone
        self.type = type
        self.item = item
    }

    /// Reads a path as a user types it. Slashes at both ends and `.json` are optional.
    ///
    /// Errors: `invalidName` for a component that no directory or record can have.
    package init(parsing text: [UInt8]) throws(RecordError) {
        var rest = text.split(separator: UInt8(ascii: "/")).map(Array.init)[...]
        guard let first = rest.popFirst() else {
            self.init()
            return
        }
        let name = String(decoding: first, as: UTF8.self)
        guard let database = Database(name: name) else {
            throw RecordError(
                .invalidName,
                "\"\(name)\" is no database. A path starts with private, shared, public or local, "
                    + "as in private/ZONE/TYPE/NAME.")
        }
        var owner = OwnerName.me
        if database == .shared, let component = rest.popFirst() {
            owner = try Self.owner(component)
        }
        let zone = try rest.popFirst().map { component throws(RecordError) in
            try Self.zone(component)
        }
        let type = try rest.popFirst().map { component throws(RecordError) in
            try Self.type(component)
        }
        let item = try rest.popFirst().map { component throws(RecordError) in
            try Self.item(component)
        }
        guard rest.isEmpty else {
            throw RecordError(
                .invalidName, "the path has too many components. A record is ZONE/TYPE/NAME.")
        }
        self.init(database: database, owner: owner, zone: zone, type: type, item: item)
    }

    package init(_ text: String) throws(RecordError) {
        try self.init(parsing: Array(text.utf8))
    }

    /// The stem, for a record or an asset of it.
    package var stem: Stem? {
        switch item {
        case .record(let stem), .asset(let stem, _, _, _): stem
        case nil: nil
        }
    }

    /// Returns the stem of a path that names a record.
    ///
    /// Errors: `invalidArgument` for every other path.
    package func requireRecord() throws(RecordError) -> Stem {
        guard case .record(let stem) = item else {
            throw RecordError(
                .invalidArgument, "is not a record. Write DATABASE/ZONE/TYPE/NAME.")
        }
        return stem
    }

    /// The path of the record that a file name may mean when it has a plain `@` and the ending of a
    /// record: `john.doe@example.com.json`. It is nil for every other path.
    package var recordWithSign: RecordPath? {
        guard case .asset(let stem, let field, let index, let fileExtension) = item else {
            return nil
        }
        let name = EntryName.assetFileName(
            stem: stem, field: field, index: index, fileExtension: fileExtension)
        guard name.count > 5, name.suffix(5).elementsEqual(".json".utf8) else { return nil }
        return directory.appending(Stem(encoding: RecordName(bytes: Array(name.dropLast(5)))))
    }

    /// The directory that contains this record, or this path itself when it names no record.
    package var directory: RecordPath {
        RecordPath(database: database, owner: owner, zone: zone, type: type)
    }

    /// Returns the path of a record in the type of this path.
    package func appending(_ stem: Stem) -> RecordPath {
        RecordPath(
            database: database, owner: owner, zone: zone, type: type, item: .record(stem))
    }
}

extension RecordPath: CustomStringConvertible {
    /// The path as bytes, without slashes at its ends. It reads back as the same path.
    package var bytes: [UInt8] {
        var parts: [[UInt8]] = []
        if let database { parts.append(Array(database.name.utf8)) }
        if !owner.bytes.isEmpty { parts.append(owner.fileName) }
        if let zone { parts.append(NameCodec.encode(zone.bytes)) }
        if let type { parts.append(type.bytes) }
        switch item {
        case .record(let stem):
            parts.append(stem.bytes + Array(".json".utf8))
        case .asset(let stem, let field, let index, let fileExtension):
            var name = stem.bytes + [UInt8(ascii: "@")] + field.bytes
            if let index { name += Array(".\(index)".utf8) }
            if !fileExtension.isEmpty { name += [UInt8(ascii: ".")] + fileExtension }
            parts.append(name)
        case nil: break
        }
        return Array(parts.joined(separator: [UInt8(ascii: "/")]))
    }

    package var description: String { String(decoding: bytes, as: UTF8.self) }
}

extension RecordPath {
    private static func decode(_ bytes: [UInt8], _ what: String) throws(RecordError) -> [UInt8] {
        guard let decoded = NameCodec.decode(bytes), NameCodec.encode(decoded) == bytes else {
            throw invalid(bytes, "is not a valid \(what) name", spelling: NameCodec.encode(bytes))
        }
        return decoded
    }

    private static func owner(_ bytes: [UInt8]) throws(RecordError) -> OwnerName {
        guard let owner = OwnerName(fileName: bytes) else {
            throw invalid(
                bytes, "is not a valid owner name",
                spelling: OwnerName(bytes: NameCodec.decode(bytes) ?? bytes).fileName)
        }
        return owner
    }

    private static func zone(_ bytes: [UInt8]) throws(RecordError) -> ZoneName {
        let name = ZoneName(bytes: try decode(bytes, "zone"))
        guard name.isValid else { throw invalid(bytes, "is not a valid zone name") }
        return name
    }

    private static func type(_ bytes: [UInt8]) throws(RecordError) -> RecordTypeName {
        let name = RecordTypeName(bytes: bytes)
        guard name.isValid else {
            throw invalid(
                bytes, "is not a valid record type: use letters, digits and _, no digit first")
        }
        return name
    }

    private static func item(_ bytes: [UInt8]) throws(RecordError) -> Item {
        switch EntryName(classifying: bytes) {
        case .record(let stem):
            return .record(try canonical(stem))
        case .asset(let stem, let field, let index, let fileExtension):
            return .asset(
                stem: try canonical(stem), field: field, index: index,
                fileExtension: fileExtension)
        case .scratch:
            return .record(try canonical(Stem(bytes: bytes)))
        }
    }

    private static func canonical(_ stem: Stem) throws(RecordError) -> Stem {
        if stem.decoded != nil || stem.bytes.starts(with: Array("%-".utf8)) { return stem }
        throw invalid(
            stem.bytes, "is not how a record name is spelled",
            spelling: Stem(encoding: RecordName(bytes: stem.bytes)).bytes)
    }

    private static func invalid(
        _ bytes: [UInt8], _ problem: String, spelling: [UInt8]? = nil
    ) -> RecordError {
        var message = "\"\(String(decoding: bytes, as: UTF8.self))\" \(problem)."
        if let spelling, spelling != bytes, !spelling.isEmpty {
            message += " Write \(String(decoding: spelling, as: UTF8.self))."
        }
        return RecordError(.invalidName, message)
    }
}
