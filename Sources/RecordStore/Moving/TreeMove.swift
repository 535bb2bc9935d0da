package import RecordModel

/// A move of records to another zone, with all that hangs on them: their descendants by `$parent`
/// and, with a model, the objects that relationships connect with them.
package struct TreeMove: Hashable, Sendable {
    package let roots: [RecordID]
    /// The database of the target zone. The zone is in this store and is made when it does not
    /// exist.
    package let database: Database
    package let owner: OwnerName
    package let zone: ZoneName
    /// The record there that becomes the parent of the roots. Nil for none.
    package let parent: RecordName?
    /// Indicates whether the target zone is about to be shared.
    package var isShared = false

    package init(
        of root: RecordID, to database: Database, _ owner: OwnerName, _ zone: ZoneName,
        under parent: RecordName? = nil
    ) {
        self.init(of: [root], to: database, owner, zone, under: parent)
    }

    package init(
        of roots: [RecordID], to database: Database, _ owner: OwnerName, _ zone: ZoneName,
        under parent: RecordName? = nil
    ) {
        self.roots = roots
        self.database = database
        self.owner = owner
        self.zone = zone
        self.parent = parent
    }
}

extension TreeMove {
    /// The beginning of the names of zones in which Core Data shares objects. A UUID follows.
    private static let objectsPrefix = "com.apple.coredata.cloudkit.share."

    /// Returns a new name for a zone of shared objects, as Core Data gives.
    package static func zoneOfObjects() -> ZoneName {
        ZoneName(bytes: Array(objectsPrefix.utf8) + UUIDText.random())
    }

    /// The name that stands for a new one, where nothing is made.
    package static var sampleZoneOfObjects: ZoneName { ZoneName(objectsPrefix + "UUID") }
}

/// The plan or the result of moving a tree.
package struct TreeMovePlan: Sendable {
    /// One record of the tree, under its old name.
    package struct Step: Sendable {
        package let record: RecordID
        package let type: RecordTypeName
        package let stem: Stem
        let name: RecordName
    }

    /// A relationship that ends, because an object of a private type stays.
    package struct Torn: Sendable {
        /// The object that moves.
        package let object: Object
        package let relationship: FieldName
        /// The object that stays.
        package let staying: Object
        let side: ObjectGraph.Torn
    }

    /// An object, under its old name.
    package struct Object: Sendable {
        package let type: RecordTypeName
        package let stem: Stem
    }

    /// The records of the tree, each after its parent; the roots first, and links of objects last.
    package internal(set) var steps: [Step] = []
    /// The new records, in the same order, once the move is done.
    package internal(set) var copies: [RecordID] = []
    /// The relationships that end.
    package internal(set) var torn: [Torn] = [] {
        didSet {
            lostKeys = Dictionary(grouping: torn, by: \.side.record).mapValues { torn in
                Set(torn.compactMap(\.side.edge.key))
            }
        }
    }
    /// The keys that records lose.
    private(set) var lostKeys: [RecordName: Set<FieldName>] = [:]
    /// The bytes of their texts and large fields.
    package internal(set) var bytes: Int64 = 0
    /// The zone that they leave.
    package let source: ZoneInfo
}
