import RecordModel
import RecordWire

@testable import RecordServerCore

/// A role whose columns a table of permissions has, in the order of its cases.
protocol TableRole: CaseIterable, Hashable {}

extension TableRole {
    /// Returns the words of a row, one for each role.
    static func table(_ words: String) -> [Self: String] {
        Dictionary(
            uniqueKeysWithValues: zip(allCases, words.split(separator: " ").map(String.init)))
    }
}

/// A caller in a zone.
enum ZoneRole: TableRole, Sendable {
    case owner, writer, reader, zoneWriter
    case anybody, user, creator, editor
}

/// A caller by the kind of credential.
enum CallerRole: TableRole, Sendable {
    case anonymous, user, administrator
    case key, keyOfAdministrator, schemaKey, schemaKeyOfUser

    var caller: Caller {
        switch self {
        case .anonymous: .anonymous
        case .user: .user(Self.row(isAdministrator: false))
        case .administrator: .user(Self.row(isAdministrator: true))
        case .key: .serverKey(Self.row(isAdministrator: false), keyID: "k")
        case .keyOfAdministrator: .serverKey(Self.row(isAdministrator: true), keyID: "k")
        case .schemaKey:
            .serverKey(Self.row(isAdministrator: true), keyID: "k", managesSchema: true)
        case .schemaKeyOfUser:
            .serverKey(Self.row(isAdministrator: false), keyID: "k", managesSchema: true)
        }
    }

    private static func row(isAdministrator: Bool) -> UserRow {
        UserRow(
            name: UserName("_u"), emailAddress: "u@example.org", passwordHash: "",
            isAdministrator: isAdministrator, createdMilliseconds: 0)
    }
}

/// An editor of a share.
enum EditorRole: TableRole, Sendable {
    case owner, writingAdministrator, readingAdministrator, participant

    var editor: ShareEditor {
        switch self {
        case .owner: .owner
        case .writingAdministrator: .administrator(participantID: "p", .readWrite)
        case .readingAdministrator: .administrator(participantID: "p", .readOnly)
        case .participant: .user(participantID: "p")
        }
    }
}

/// A zone with a share, and a public database with grants.
struct PermissionWorld: Sendable {
    let share = RecordName("s")
    private let creator = UserName("_creator_")
    private let schema: ContainerSchema
    private let zone = ZoneKey(
        database: DatabaseKey(container: Self.container, owner: UserName("_owner")),
        zone: ZoneName("Z"))
    private static let container = ContainerKey(
        container: "iCloud.org.example.app", environment: .development)

    init() throws {
        let text = """
            DEFINE SCHEMA CREATE ROLE editor;
            RECORD TYPE Note (a STRING, GRANT READ TO "_world", GRANT CREATE TO "_icloud",
                GRANT WRITE TO "_creator", GRANT WRITE TO editor);
            RECORD TYPE Own (a STRING, GRANT WRITE TO "_creator");
            RECORD TYPE Locked (a STRING, GRANT READ, CREATE, WRITE TO editor);
            """
        schema = ContainerSchema(
            container: Self.container, version: 1,
            document: try SchemaDocument(parsing: Array(text.utf8)))
    }

    var shared: RecordFacts {
        RecordFacts(type: RecordTypeName("Note"), share: share, creator: creator)
    }
    var unshared: RecordFacts {
        RecordFacts(type: RecordTypeName("Note"), share: nil, creator: creator)
    }
    var locked: RecordFacts {
        RecordFacts(type: RecordTypeName("Locked"), share: share, creator: UserName("_other"))
    }
    var own: RecordFacts { RecordFacts(type: RecordTypeName("Own"), share: nil, creator: creator) }

    func rights(_ role: ZoneRole) -> ZoneRights {
        switch role {
        case .owner: ZoneRights(view: .owner)
        case .writer: participant([share: .readWrite])
        case .reader: participant([share: .readOnly])
        case .zoneWriter: participant([.zoneShare: .readWrite])
        case .anybody: world(nil, [])
        case .user: world(UserName("_user"), ["_icloud"])
        case .creator: world(creator, ["_icloud"])
        case .editor: world(UserName("_editor"), ["_icloud", "editor"])
        }
    }

    private func participant(_ permissions: [RecordName: SharePermission]) -> ZoneRights {
        let row = SharedZoneRow(
            viewer: UserName("_viewer"), zone: zone, incarnation: 1,
            shares: permissions.keys.sorted())
        return ZoneRights(view: .participant(row, permissions: permissions))
    }

    private func world(_ user: UserName?, _ roles: Set<String>) -> ZoneRights {
        ZoneRights(
            view: .publicDatabase,
            grants: Grants(schema: schema, roles: roles.union(["_world"]), user: user))
    }
}
