import RecordModel
import RecordWire
import Testing

@testable import RecordServerCore

/// The decisions of `Permissions`: each action as each role.
@Suite("Permissions") struct PermissionTests {
    @Test("actions on the records of a zone", arguments: ZoneRole.allCases)
    func records(_ role: ZoneRole) throws {
        let world = try PermissionWorld()
        for row in Self.recordRows {
            let decision = Permissions.decide(.records(row.action(world), world.rights(role)))
            #expect(word(decision) == row.expected[role], "\(row.name) as \(role)")
        }
    }

    @Test("the records that a caller may see", arguments: ZoneRole.allCases)
    func sight(_ role: ZoneRole) throws {
        let world = try PermissionWorld()
        let sight = world.rights(role).sight
        for row in Self.sightRows {
            let shows = sight.shows(row.record(world))
            #expect((shows ? "yes" : "no") == row.expected[role], "\(row.name) as \(role)")
        }
    }

    @Test("calls of operations", arguments: CallerRole.allCases)
    func calls(_ role: CallerRole) {
        for row in Self.callRows {
            let decision = Permissions.decide(.call(row.endpoint, row.scope, by: role.caller))
            #expect(word(decision) == row.expected[role], "\(row.endpoint) as \(role)")
        }
    }

    @Test("changes of a share", arguments: EditorRole.allCases)
    func shares(_ role: EditorRole) {
        for row in Self.shareRows {
            let decision = Permissions.decide(.share(row.edit, by: role.editor))
            #expect(word(decision) == row.expected[role], "\(row.name) as \(role)")
        }
    }

    @Test("a refusal says why")
    func reasons() throws {
        let world = try PermissionWorld()
        func reason(_ action: RecordAction, _ role: ZoneRole) -> String? {
            guard
                case .refused(let error) = Permissions.decide(.records(action, world.rights(role)))
            else { return nil }
            return error.reason
        }
        #expect(
            reason(.change(world.shared), .reader) == "This share is read-only for this user.")
        #expect(reason(.delete(world.shared), .user) == "This user may not delete this record.")
        #expect(reason(.change(world.shared), .user) == "This user may not change this record.")
        #expect(
            reason(.createSomewhere, .reader)
                == "All that is shared here is read-only for this user.")
        #expect(
            reason(.giveRootParent(path: "operations[3].record.parent"), .writer)
                == "operations[3].record.parent: only the owner gives the root of a share a parent."
        )
    }

    private func word(_ decision: Decision) -> String {
        switch decision {
        case .allowed: "yes"
        case .refused(let error) where error.code == .accessDenied: "no"
        case .refused(let error) where error.code == .authenticationRequired: "sign-in"
        case .refused(let error): error.code.rawValue
        }
    }
}

extension PermissionTests {
    struct RecordRow {
        let name: String
        let action: @Sendable (PermissionWorld) -> RecordAction
        let expected: [ZoneRole: String]

        init(
            _ name: String, _ words: String,
            _ action: @escaping @Sendable (PermissionWorld) -> RecordAction
        ) {
            self.name = name
            self.action = action
            expected = ZoneRole.table(words)
        }
    }

    // owner, writer, reader, writer of the zone; in the public database: anybody, a user, the
    // record's creator, a user with the role `editor`.
    static let recordRows = [
        RecordRow("search notes", "yes yes yes yes yes yes yes yes") { _ in
            .search(RecordTypeName("Note"))
        },
        RecordRow("search locked", "yes yes yes yes sign-in no no yes") { _ in
            .search(RecordTypeName("Locked"))
        },
        RecordRow("search own", "yes yes yes yes sign-in yes yes yes") { _ in
            .search(RecordTypeName("Own"))
        },
        RecordRow("create somewhere", "yes yes no yes yes yes yes yes") { _ in .createSomewhere },
        RecordRow("create a note", "yes yes yes yes no yes yes yes") { _ in
            .create(RecordTypeName("Note"))
        },
        RecordRow("create a locked", "yes yes yes yes no no no yes") { _ in
            .create(RecordTypeName("Locked"))
        },
        RecordRow("place in the share", "yes yes no yes yes yes yes yes") { .place(in: $0.share) },
        RecordRow("place in another share", "yes no no yes yes yes yes yes") { _ in
            .place(in: RecordName("other"))
        },
        RecordRow("place in no share", "yes no no yes yes yes yes yes") { _ in .place(in: nil) },
        RecordRow("change a shared note", "yes yes no yes no no yes yes") { .change($0.shared) },
        RecordRow("change a private note", "yes no no yes no no yes yes") { .change($0.unshared) },
        RecordRow("change a locked", "yes yes no yes no no no yes") { .change($0.locked) },
        RecordRow("delete a shared note", "yes yes no yes no no yes yes") { .delete($0.shared) },
        RecordRow("delete a private note", "yes no no yes no no yes yes") { .delete($0.unshared) },
        RecordRow("upload to a shared note", "yes yes no yes no no yes yes") {
            .upload(to: $0.shared, RecordTypeName("Note"))
        },
        RecordRow("upload to a private note", "yes no no yes no no yes yes") {
            .upload(to: $0.unshared, RecordTypeName("Note"))
        },
        RecordRow("upload for a new note", "yes yes no yes no yes yes yes") { _ in
            .upload(to: nil, RecordTypeName("Note"))
        },
        RecordRow("upload for a new locked", "yes yes no yes no no no yes") { _ in
            .upload(to: nil, RecordTypeName("Locked"))
        },
        RecordRow("parent of a root", "yes no no no yes yes yes yes") { _ in
            .giveRootParent(path: "record.parent")
        },
        RecordRow("share", "yes no no no yes yes yes yes") { _ in .share },
    ]

    struct SightRow {
        let name: String
        let record: @Sendable (PermissionWorld) -> RecordFacts
        let expected: [ZoneRole: String]

        init(
            _ name: String, _ words: String,
            _ record: @escaping @Sendable (PermissionWorld) -> RecordFacts
        ) {
            self.name = name
            self.record = record
            expected = ZoneRole.table(words)
        }
    }

    static let sightRows = [
        SightRow("shared note", "yes yes yes yes yes yes yes yes", \.shared),
        SightRow("private note", "yes no no yes yes yes yes yes", \.unshared),
        SightRow("locked", "yes yes yes yes no no no yes", \.locked),
        SightRow("own", "yes no no yes no no yes no", \.own),
    ]
}

extension PermissionTests {
    struct CallRow {
        let endpoint: Endpoint
        let scope: DatabaseScope
        let expected: [CallerRole: String]

        init(_ endpoint: Endpoint, _ scope: DatabaseScope, _ words: String) {
            self.endpoint = endpoint
            self.scope = scope
            expected = CallerRole.table(words)
        }
    }

    // anonymous, user, administrator, key, key of an administrator, schema key, schema key of a
    // user who is no administrator any more.
    static let callRows = [
        CallRow(.recordsQuery, .public, "yes yes yes yes yes yes yes"),
        CallRow(.recordsLookup, .public, "yes yes yes yes yes yes yes"),
        CallRow(.recordsModify, .public, "sign-in yes yes yes yes yes yes"),
        CallRow(.recordsQuery, .private, "sign-in yes yes no no no no"),
        CallRow(.recordsModify, .private, "sign-in yes yes no no no no"),
        CallRow(.changesZone, .shared, "sign-in yes yes no no no no"),
        CallRow(.zonesList, .public, "yes yes yes yes yes yes yes"),
        CallRow(.zonesModify, .private, "sign-in yes yes no no no no"),
        CallRow(.recordsResolve, .public, "sign-in yes yes no no no no"),
        CallRow(.recordsAccept, .public, "sign-in yes yes no no no no"),
        CallRow(.recordsRequestAccess, .public, "sign-in yes yes no no no no"),
        CallRow(.recordsDecline, .public, "sign-in yes yes no no no no"),
        CallRow(.recordsHistory, .private, "sign-in yes yes no no no no"),
        CallRow(.usersCurrent, .public, "sign-in yes yes yes yes yes yes"),
        CallRow(.subscriptionsModify, .public, "sign-in yes yes yes yes yes yes"),
        CallRow(.assetsUpload, .public, "sign-in yes yes yes yes yes yes"),
        CallRow(.schemaExport, .public, "sign-in no yes no no yes no"),
        CallRow(.schemaValidate, .public, "sign-in no yes no no yes no"),
        CallRow(.schemaImport, .public, "sign-in no yes no no yes no"),
        CallRow(.schemaDeploy, .public, "sign-in no yes no no yes no"),
        CallRow(.schemaReset, .public, "sign-in no yes no no yes no"),
    ]

    struct ShareEditRow {
        let name: String
        let edit: ShareChange
        let expected: [EditorRole: String]

        init(_ name: String, _ words: String, _ edit: ShareChange) {
            self.name = name
            self.edit = edit
            expected = EditorRole.table(words)
        }
    }

    // owner, administrator who may write, administrator who may read, participant.
    static let shareRows = [
        ShareEditRow("fields", "yes yes no no", .fields),
        ShareEditRow("public permission", "yes no no no", .publicPermission),
        ShareEditRow("access", "yes yes yes no", .access),
        ShareEditRow("leave", "yes yes yes yes", .participants(.removed(row("p")))),
        ShareEditRow("remove another", "yes yes yes no", .participants(.removed(row("q")))),
        ShareEditRow(
            "invite a reader", "yes yes yes no", .participants(.added(row("q"), index: 0))),
        ShareEditRow(
            "invite a writer", "yes yes no no",
            .participants(.added(row("q", .readWrite), index: 0))),
        ShareEditRow(
            "invite an administrator", "yes no no no",
            .participants(.added(row("q", type: .administrator), index: 0))),
        ShareEditRow(
            "let a reader write", "yes yes no no",
            .participants(.changed(row("q"), row("q", .readWrite), index: 0))),
        ShareEditRow(
            "let a writer only read", "yes yes yes no",
            .participants(.changed(row("q", .readWrite), row("q"), index: 0))),
        ShareEditRow(
            "make an administrator", "yes no no no",
            .participants(.changed(row("q"), row("q", type: .administrator), index: 0))),
    ]

    private static func row(
        _ id: Text, _ permission: SharePermission = .readOnly, type: ParticipantType = .user
    ) -> ParticipantRow {
        ParticipantRow(
            participantID: id, user: nil, lookup: UserLookup(), type: type, permission: permission,
            status: .accepted)
    }
}
