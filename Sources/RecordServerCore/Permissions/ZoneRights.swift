import RecordModel
import RecordWire

/// The rights of a caller in a zone.
struct ZoneRights: Sendable {
    let view: ZoneAccess.View
    let grants: Grants

    init(view: ZoneAccess.View, grants: Grants = .none) {
        self.view = view
        self.grants = grants
    }

    var isParticipant: Bool {
        if case .participant = view { true } else { false }
    }

    /// The records that the caller may see.
    var sight: Sight { Sight(shares: view.visibleShares, grants: grants) }
}

/// The grants of the schema to a caller. They count in the public database only.
struct Grants: Sendable {
    /// The schema of the public database. Nil stands for another database, where nothing has to be
    /// granted.
    private let schema: ContainerSchema?
    private let roles: Set<String>
    let user: UserName?

    init(schema: ContainerSchema?, roles: Set<String>, user: UserName?) {
        self.schema = schema
        self.roles = roles
        self.user = user
    }

    /// The grants where nothing has to be granted.
    static let none = Grants(schema: nil, roles: [], user: nil)

    /// Returns whether the caller has this permission for a record of the type that `creator` made.
    func allow(
        _ permission: SchemaPermission, _ type: RecordTypeName, madeBy creator: UserName?
    ) -> Bool {
        guard let schema else { return true }
        return schema.allows(
            permission, type: type, roles: roles, isCreator: creator != nil && creator == user)
    }
}
