import RecordModel
import RecordStore

/// Finds the things that names show.
final class Naming: Sendable {
    let control: ControlDirectory
    let errors: ErrorReports
    let fields: FieldFiles
    let records: OpenRecords
    let scratch: ScratchFiles
    let shares: ShareFiles
    let store: RecordStore

    init(
        _ ground: Ground, _ scratchRooms: ScratchRooms, _ assetRooms: AssetRooms,
        _ recordRooms: RecordRooms, _ shareRooms: ShareRooms, _ controlRooms: ControlRooms
    ) {
        control = controlRooms.control
        errors = ground.errors
        fields = assetRooms.fields
        records = recordRooms.records
        scratch = scratchRooms.scratch
        shares = shareRooms.shares
        store = ground.store
    }

    /// Returns the meaning of a name. Names beside a large field's file that are ordinary local
    /// files are distinguished from the name of the field.
    func meaning(of name: [UInt8], in parent: Node) throws(RecordError) -> NameMeaning {
        let meaning = NameMeaning.plain(of: name, in: parent)
        guard case .asset(let field) = meaning else { return meaning }
        return try fields.file(field).map { .asset($0) } ?? .scratch(field.scratchPlace)
    }

    /// Returns the node of a name. Returns nil when it does not exist.
    func find(_ name: [UInt8], in parent: Node) throws(RecordError) -> Node? {
        switch try meaning(of: name, in: parent) {
        case .fixed(let node): return node
        case .database(let database): return .database(database)
        case .owner(let owner):
            let known = try store.zones(in: .shared).contains { $0.owner == owner }
            return known ? .owner(owner) : nil
        case .zone(let database, let owner, let zone):
            return try store.zone(database, owner, zone).map { .zone($0.id) }
        case .type(let zone, let type):
            return try store.model.shownType(zone, type).map { .type($0.id) }
        case .record(let type, let stem): return try records.find(type, stem).map { .record($0) }
        case .asset(let file): return file.entry.map { .asset($0.id) }
        case .errorFile(let type):
            return try errors.report(of: type) == nil ? nil : .errorFile(type)
        case .scratch(let place):
            if let id = try scratch.find(place) { return .scratch(id) }
            return try shares.find(place).map { .share($0) }
        case .control(let path, let name): return try control.find(name, in: path)
        case .impossible: return nil
        }
    }
}
