package import RecordModel

extension ZoneIdentifier: AnswerValue {
    /// Prints the zoneID dictionary. An unknown owner is left out.
    package func write(to answer: inout AnswerWriter) {
        answer.object { answer in
            answer.member("zoneName", zone)
            answer.member("ownerRecordName", owner)
            answer.member("zoneType", isDefault ? "DEFAULT_ZONE" : "REGULAR_CUSTOM_ZONE")
        }
    }

    /// Prints the members that identify the zone, as requests need them.
    func writeNames(to answer: inout AnswerWriter) {
        answer.member("zoneName", zone)
        answer.member("ownerRecordName", owner)
    }

    private var isDefault: Bool { zone == ZoneIdentifier.defaultZone.zone }

    package var json: JSONValue {
        var members = [
            JSONMember(key: "zoneName", value: .string(Text(utf8: zone.bytes)))
        ]
        if let owner {
            members.append(
                JSONMember(key: "ownerRecordName", value: .string(Text(utf8: owner.bytes))))
        }
        return .object(members)
    }
}

/// The zone dictionary of an answer (CloudKit Web Services Reference, Types and Dictionaries).
package struct ZoneAnswer: Hashable, Sendable, AnswerValue {
    package var zone: ZoneIdentifier
    package var syncToken: Text?
    /// Indicates whether the zone is atomic. Nil leaves the key out.
    package var isAtomic: Bool?
    package var isDeleted: Bool
    /// `deletionReason`, an extension of change feeds.
    package var deletionReason: String?
    /// `ownerIdentity`, an extension of change feeds: the user who shares the zone, with the
    /// details that the requester may know.
    package var ownerIdentity: JSONValue?
    /// The dialect. With `iCloud`, the keys that iCloud's hosts do not answer with are left out.
    package var dialect: AnswerDialect

    package init(
        _ zone: ZoneIdentifier, syncToken: Text? = nil, isAtomic: Bool? = nil,
        isDeleted: Bool = false, deletionReason: String? = nil,
        ownerIdentity: JSONValue? = nil, dialect: AnswerDialect = .webServices
    ) {
        self.zone = zone
        self.syncToken = syncToken
        self.isAtomic = isAtomic
        self.isDeleted = isDeleted
        self.deletionReason = deletionReason
        self.ownerIdentity = ownerIdentity
        self.dialect = dialect
    }

    package func write(to answer: inout AnswerWriter) {
        answer.object { answer in
            answer.member("zoneID", zone)
            answer.member("syncToken", syncToken)
            if isDeleted { answer.member("deleted", true) }
            guard dialect == .webServices else { return }
            answer.member("atomic", isAtomic)
            answer.member("deletionReason", deletionReason)
            answer.member("ownerIdentity", ownerIdentity)
        }
    }

    /// The owner's e-mail address, for requesters who may know it.
    package var ownerAddress: Text? {
        guard let address = ownerIdentity?["lookupInfo"]?["emailAddress"] else { return nil }
        return address.string
    }
}

/// `created` and `modified` of a record.
package struct StampAnswer: Hashable, Sendable, AnswerValue {
    /// The time since 1970-01-01T00:00:00Z.
    package var milliseconds: Int64
    package var user: UserName
    package var device: Text

    package init(milliseconds: Int64, user: UserName, device: Text) {
        self.milliseconds = milliseconds
        self.user = user
        self.device = device
    }

    package func write(to answer: inout AnswerWriter) {
        answer.object { answer in
            answer.member("timestamp", milliseconds)
            answer.member("userRecordName", user)
            answer.member("deviceID", device)
        }
    }
}

/// A deleted record, in answers and feeds.
package struct TombstoneAnswer: Hashable, Sendable, AnswerValue {
    package var name: RecordName
    package var zone: ZoneIdentifier?
    /// An extension: the place to which it was moved.
    package var movedTo: RecordAddress?
    /// An extension: the change tag of the deletion, when the name has another record since.
    package var changeTag: Text?
    /// An extension: the origin of the deletion.
    package var gesture: Text?
    /// An extension: the children of a deleted root of a share, which stay with its owner.
    package var unshared: [RecordName]

    package init(
        _ name: RecordName, zone: ZoneIdentifier? = nil, movedTo: RecordAddress? = nil,
        changeTag: Text? = nil, gesture: Text? = nil, unshared: [RecordName] = []
    ) {
        self.name = name
        self.zone = zone
        self.movedTo = movedTo
        self.changeTag = changeTag
        self.gesture = gesture
        self.unshared = unshared
    }

    package func write(to answer: inout AnswerWriter) {
        answer.object { answer in
            answer.member("recordName", name)
            answer.member("deleted", true)
            answer.member("zoneID", zone)
            if let movedTo { answer.member("movedTo", movedTo) }
            answer.member("gesture", gesture)
            if let changeTag { answer.member("recordChangeTag", changeTag) }
            if !unshared.isEmpty { answer.member("unsharedChildren", unshared) }
        }
    }
}
