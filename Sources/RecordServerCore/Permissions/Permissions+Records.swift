import RecordModel
import RecordWire

extension Permissions {
    /// Decides about an action on the records of a zone. The owner may do everything. A participant
    /// has the permissions of the accepted shares, and in the public database the grants of the
    /// schema decide.
    static func decide(_ action: RecordAction, _ rights: ZoneRights) -> Decision {
        switch action {
        case .search(let type): search(type, rights)
        case .createSomewhere: createSomewhere(rights)
        case .create(let type):
            rights.grants.allow(.create, type, madeBy: nil)
                ? .allowed : .denied("This user may not create records of type \(type).")
        case .place(let share): place(in: share, rights)
        case .change(let record): write(record, "change", rights)
        case .delete(let record): write(record, "delete", rights)
        case .upload(let record, let type): upload(to: record, type, rights)
        case .giveRootParent(let path):
            rights.isParticipant
                ? .denied("\(path): only the owner gives the root of a share a parent.") : .allowed
        case .share:
            rights.isParticipant
                ? .denied("Only the owner of a zone may share its records.") : .allowed
        }
    }

    /// Refuses types of which the caller could not even read a record that the caller created.
    private static func search(_ type: RecordTypeName, _ rights: ZoneRights) -> Decision {
        let user = rights.grants.user
        guard !rights.grants.allow(.read, type, madeBy: user) else { return .allowed }
        guard user != nil else {
            return .refused(
                ServerError(
                    .authenticationRequired,
                    "Records of type '\(type)' cannot be read without a user: sign in first."))
        }
        return .denied("No role of this user may read records of type '\(type)'.")
    }

    /// Refuses a participant who may only read everything that is shared here.
    private static func createSomewhere(_ rights: ZoneRights) -> Decision {
        guard case .participant(_, let permissions) = rights.view,
            !permissions.values.contains(.readWrite)
        else { return .allowed }
        return .denied("All that is shared here is read-only for this user.")
    }

    /// Refuses to change a member of `share`, or to put a record into it, without READ_WRITE.
    private static func place(in share: RecordName?, _ rights: ZoneRights) -> Decision {
        switch rights.view.permission(for: share) {
        case .readWrite: .allowed
        case .readOnly: .denied("This share is read-only for this user.")
        case .none, .unknown:
            .denied(
                "In the shared database a record needs a parent that is shared with this user.")
        }
    }

    private static func write(
        _ record: RecordFacts, _ verb: String, _ rights: ZoneRights
    ) -> Decision {
        let decision = place(in: record.share, rights)
        guard decision.isAllowed else { return decision }
        return rights.grants.allow(.write, record.type, madeBy: record.creator)
            ? .allowed : .denied("This user may not \(verb) this record.")
    }

    /// Refuses a caller who may neither create the record nor, if it exists, change it.
    private static func upload(
        to record: RecordFacts?, _ type: RecordTypeName, _ rights: ZoneRights
    ) -> Decision {
        switch rights.view {
        case .owner: return .allowed
        case .participant:
            return record.map { place(in: $0.share, rights) } ?? createSomewhere(rights)
        case .publicDatabase:
            let mayWrite = rights.grants.allow(
                record == nil ? .create : .write, record?.type ?? type, madeBy: record?.creator)
            return mayWrite
                ? .allowed : .denied("The schema does not let this user write such records.")
        }
    }
}
