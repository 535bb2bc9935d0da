import RecordModel
import RecordStore

/// The files below `.recordfs` that come of the attached model and of schemas: JSON Schemas for
/// editors, the records as the server has them, the model itself.
final class ModelFiles: Sendable {
    static let modelName = "model.json"
    private static let schemaEnding = Array(".schema.json".utf8)

    private let store: RecordStore

    init(store: RecordStore) { self.store = store }

    var isAttached: Bool { store.model.attached != nil }

    // MARK: JSON Schemas

    /// Returns the schemas of the types in a zone, and of the types that the model gives it.
    func schemas(in zone: ZoneID) throws(RecordError) -> [ControlName] {
        Set(try store.model.shownTypes(in: zone).map(\.name) + store.model.types).sorted().map {
            ControlName(
                ZoneMapping.plain.directoryName(of: $0) + Self.schemaEnding, .typeSchema(zone, $0))
        }
    }

    func findSchema(_ name: [UInt8], in zone: ZoneID) throws(RecordError) -> ControlPath? {
        guard name.suffix(Self.schemaEnding.count).elementsEqual(Self.schemaEnding),
            let type = ZoneMapping.plain.typeName(
                ofDirectory: Array(name.dropLast(Self.schemaEnding.count))),
            try hasSchema(type, in: zone)
        else { return nil }
        return .typeSchema(zone, type)
    }

    /// Returns the text of a schema. Returns nil when its zone or type is gone.
    func schema(of type: RecordTypeName, in zone: ZoneID) throws(RecordError) -> [UInt8]? {
        guard try store.zone(zone) != nil, try hasSchema(type, in: zone) else { return nil }
        return try store.model.editorSchema(of: type)
    }

    private func hasSchema(_ type: RecordTypeName, in zone: ZoneID) throws(RecordError) -> Bool {
        if store.model.types.contains(type) { return true }
        return try store.model.shownType(zone, type) != nil
    }

    // MARK: Raw records

    func types(in zone: ZoneID) throws(RecordError) -> [ControlName] {
        try store.model.serverTypes(in: zone).map {
            ControlName(ZoneMapping.plain.directoryName(of: $0), .rawType(zone, $0))
        }
    }

    func findType(_ name: [UInt8], in zone: ZoneID) throws(RecordError) -> ControlPath? {
        guard let type = ZoneMapping.plain.typeName(ofDirectory: name),
            try store.model.serverTypes(in: zone).contains(type)
        else { return nil }
        return .rawType(zone, type)
    }

    /// Returns the records of a type. Each has the file name that its whole name gives, because
    /// records of several directories are in one here.
    func records(in zone: ZoneID, _ type: RecordTypeName) throws(RecordError) -> [ControlName] {
        try store.model.records(in: zone, ofServerType: type).map {
            ControlName(Stem(encoding: $0.name).fileName, .raw($0.id))
        }
    }

    func find(
        _ name: [UInt8], in zone: ZoneID, _ type: RecordTypeName
    ) throws(RecordError) -> ControlPath? {
        guard case .record(let stem) = EntryName(classifying: name) else { return nil }
        guard let record = stem.decoded else {
            // Only a shortened name has no other way back to its record.
            return try records(in: zone, type).first { $0.name == name }?.path
        }
        guard Stem(encoding: record) == stem else { return nil }
        return try store.model.record(named: record, in: zone, ofServerType: type).map {
            .raw($0)
        }
    }
}
