import RecordModel
import RecordObjects
import RecordSQL

/// The objects of a zone and the relationships between them.
struct ObjectGraph {
    /// A relationship between an object that was visited and one that is left out.
    struct Torn: Hashable {
        /// The object that was visited.
        let record: RecordName
        let edge: Edge
    }

    /// A side of a relationship, seen from one of its objects.
    struct Edge: Hashable {
        let relationship: FieldName
        let other: RecordName
        /// The key that this object has. Nil where the other object or a record has it.
        let key: FieldName?
        /// The record that links the two objects.
        let link: RecordName?
    }

    private let connection: SQLConnection
    private let zone: ZoneID
    private let model: AttachedModel
    /// The types whose objects are left out.
    private let leftOut: Set<RecordTypeName>
    /// The records that link two objects of those visited, in the order of the visit.
    private(set) var links: [RecordName] = []
    /// The relationships of visited objects to those that are left out.
    private(set) var torn: [Torn] = []
    private var seenLinks: Set<RecordName> = []
    private var seenTorn: Set<Torn> = []

    init(
        _ connection: SQLConnection, _ zone: ZoneID, _ model: AttachedModel,
        without leftOut: Set<RecordTypeName>
    ) {
        self.connection = connection
        self.zone = zone
        self.model = model
        self.leftOut = leftOut
    }

    /// Returns whether an object is related to others, whether or not these are here.
    static func isConnected(
        _ record: StoredRow, _ name: RecordName, _ connection: SQLConnection
    ) throws(RecordError) -> Bool {
        try connection.exists(
            """
            SELECT 1 FROM object_link WHERE holder = ?1
            UNION ALL SELECT 1 FROM object_link WHERE zone_id = ?2 AND owner = ?3
            """,
            [
                .integer(record.id.rawValue), .integer(record.zone.rawValue), .name(name),
            ])
    }

    /// Visits an object, and returns those that it is related to.
    mutating func neighbours(of name: RecordName) throws(RecordError) -> [RecordName] {
        guard let record = try connection.records.stored(named: name, zone),
            record.state == .saved
        else { return [] }
        var neighbours: [RecordName] = []
        for edge in try edges(of: name, record) {
            guard let other = try saved(edge.other) else { continue }
            if leftOut.contains(other) {
                let new = Torn(record: name, edge: edge)
                if seenTorn.insert(new).inserted { torn.append(new) }
                continue
            }
            neighbours.append(edge.other)
            if let link = edge.link, seenLinks.insert(link).inserted { links.append(link) }
        }
        return neighbours
    }

    /// Returns the type of a record with a name. Nil when there is none, or no saved one.
    private func saved(_ name: RecordName) throws(RecordError) -> RecordTypeName? {
        try connection.first(
            """
            SELECT t.name FROM record r JOIN record_type t ON t.id = r.type_id
            WHERE r.zone_id = ? AND r.name = ? AND r.state = 0
            """, [.integer(zone.rawValue), .name(name)]
        ) { RecordTypeName(bytes: $0.bytes(0)) }
    }

    private func edges(
        of name: RecordName, _ record: StoredRow
    ) throws(RecordError) -> [Edge] {
        let type = try connection.first(
            "SELECT name FROM record_type WHERE id = ?", [.integer(record.entry.type.rawValue)]
        ) { RecordTypeName(bytes: $0.bytes(0)) }
        let relations = type.map(model.mapping.relations(of:)) ?? []
        let held = try connection.all(
            "SELECT owner, field FROM object_link WHERE holder = ? ORDER BY owner",
            [.integer(record.id.rawValue)]
        ) { (owner: RecordName(bytes: $0.bytes(0)), field: FieldName(bytes: $0.bytes(1))) }
        let named = try connection.all(
            """
            SELECT l.member, l.relationship, l.field, h.name
            FROM object_link l JOIN record h ON h.id = l.holder
            WHERE l.zone_id = ? AND l.owner = ? ORDER BY l.relationship, l.member
            """, [.integer(zone.rawValue), .name(name)]
        ) {
            Edge(
                relationship: FieldName(bytes: $0.bytes(1)),
                other: RecordName(bytes: $0.bytes(0)), key: nil,
                link: $0.bytes(2).isEmpty ? $0.bytesIfPresent(3).map { RecordName(bytes: $0) } : nil
            )
        }
        return held.map { held in
            let relation = relations.first { $0.isKey(held.field) }
            return Edge(
                relationship: relation?.name ?? held.field, other: held.owner,
                key: relation == nil ? nil : held.field, link: nil)
        } + named
    }
}
