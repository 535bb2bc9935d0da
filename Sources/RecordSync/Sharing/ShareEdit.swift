package import RecordModel
package import RecordWire

/// A change of a share that somebody wants, or a new share.
package struct ShareEdit: Hashable, Sendable {
    /// A person who gets access to the share, or whose access changes.
    package struct Member: Hashable, Sendable {
        /// An e-mail address, a telephone number or the name of a user.
        package var address: Text
        /// The permission. Nil leaves it unchanged; a new member may read.
        package var permission: SharePermission?
        /// Indicates whether the member may invite others. Nil leaves it unchanged.
        package var isAdministrator: Bool?
        /// Indicates that a person who is not a participant is not to be invited.
        package var isPresent: Bool
        /// The user who has asked for access under this address.
        var user: UserName?

        package init(
            address: Text, permission: SharePermission? = nil, isAdministrator: Bool? = nil,
            isPresent: Bool = false
        ) {
            self.address = address
            self.permission = permission
            self.isAdministrator = isAdministrator
            self.isPresent = isPresent
        }
    }

    package var title: Text?
    /// The type of the shared content. Nil leaves it unchanged, as with the thumbnail.
    package var type: Change<Text>?
    package var thumbnail: Change<ShareThumbnail>?
    /// The permission of anybody with the link. Nil leaves it unchanged.
    package var publicPermission: SharePermission?
    package var members: [Member] = []
    /// The addresses of participants to remove.
    package var removed: [Text] = []
    /// The people whose requests for access are approved.
    package var approved: [Member] = []
    /// The people whose requests for access are denied.
    package var denied: [Text] = []
    /// Indicates that the denied people cannot ask again, nor join by any link.
    package var blocksDenied = false
    /// Indicates whether people may ask for access. Nil leaves it unchanged.
    package var takesRequests: Bool?
    /// A one-time link to make.
    package var link: NewLink?

    package init() {}
}

extension ShareEdit {
    /// Reads `{"title": …, "publicPermission": …, "members": [{"address": …, "permission": …,
    /// "administrator": …}], "removed": […]}`. Each member may be left out.
    ///
    /// Also reads the members of `readAppearance` and `readAccess`. Errors: invalidArgument, and
    /// theirs.
    package init(_ json: JSONValue) throws(RecordError) {
        self.init()
        title = json["title"]?.string
        publicPermission = try json["publicPermission"].map(Self.permission)
        for member in json["members"]?.array ?? [] {
            guard let address = member["address"]?.string, UserLookup.isAddress(address) else {
                throw RecordError(
                    .invalidArgument,
                    "\"\(member["address"]?.string ?? "")\" is no e-mail address, telephone number or "
                        + "user, such as bob@example.org, +49301234567 or _1f2e…")
            }
            members.append(
                Member(
                    address: address, permission: try member["permission"].map(Self.permission),
                    isAdministrator: member["administrator"]?.bool,
                    isPresent: member["present"]?.bool ?? false))
        }
        removed = json["removed"]?.array?.compactMap(\.string) ?? []
        try readAppearance(json)
        try readAccess(json)
    }

    package var json: JSONValue {
        var json: [JSONMember] = []
        if let title { json.append(JSONMember(key: "title", value: .string(title))) }
        if let permission = publicPermission {
            json.append(
                JSONMember(key: "publicPermission", value: .string(Text(permission.rawValue))))
        }
        json.append(JSONMember(key: "members", value: .array(members.map(\.json))))
        json.append(JSONMember(key: "removed", value: .array(removed.map { .string($0) })))
        return .object(json + appearanceMembers + accessMembers)
    }

    static func permission(_ json: JSONValue) throws(RecordError) -> SharePermission {
        guard let permission = SharePermission(json) else {
            throw RecordError(
                .invalidArgument, "a permission is NONE, READ_ONLY or READ_WRITE.")
        }
        return permission
    }
}

extension SharePermission {
    /// The permission of a word. Nil for any other value.
    init?(_ json: JSONValue) {
        guard let word = json.string?.string else { return nil }
        self.init(rawValue: word)
        if self == .unknown { return nil }
    }
}

extension ShareEdit.Member {
    var json: JSONValue {
        var json = [JSONMember(key: "address", value: .string(address))]
        if let permission {
            json.append(JSONMember(key: "permission", value: .string(Text(permission.rawValue))))
        }
        if let isAdministrator {
            json.append(JSONMember(key: "administrator", value: .bool(isAdministrator)))
        }
        if isPresent { json.append(JSONMember(key: "present", value: true)) }
        return .object(json)
    }
}

extension UserLookup {
    static func isAddress(_ text: Text) -> Bool {
        let text = text.string
        guard !text.contains(where: \.isWhitespace) || text.hasPrefix("+") else { return false }
        if text.hasPrefix("_") { return text.utf8.count > 1 }
        if let at = text.firstIndex(of: "@") {
            return at != text.startIndex && text.index(after: at) != text.endIndex
        }
        return text.contains(where: \.isNumber)
            && text.allSatisfy { $0.isNumber || "+ -()/".contains($0) }
    }

    /// The person that a text means: `a@b.c`, `+49 30 1234567`, or the name of a user, which begins
    /// with `_`.
    init(writtenAs address: Text) {
        self.init()
        let text = address.string
        if text.contains("@") {
            emailAddress = address
        } else if text.hasPrefix("_") {
            userName = UserName(bytes: address.utf8)
        } else {
            phoneNumber = address
        }
    }
}

extension ParticipantAnswer {
    /// Returns whether an address, as a person writes it, means this participant.
    func isNamed(by address: Text) -> Bool {
        let lookup = UserLookup(writtenAs: address)
        if let wanted = lookup.userName { return user == wanted }
        if let wanted = lookup.emailAddress {
            return emailAddress?.string.lowercased() == wanted.string.lowercased()
        }
        let digits = address.string.filter { $0.isNumber || $0 == "+" }
        return phoneNumber?.string.filter { $0.isNumber || $0 == "+" } == digits
    }

    /// The participant as a request names them, unchanged.
    fileprivate var kept: ParticipantDictionary {
        ParticipantDictionary(
            participantID: id, lookup: UserLookup(userName: user), type: type,
            permission: permission)
    }
}

extension ShareEdit {
    /// Returns the error for a permission that the server accepted but did not set: a person who
    /// has joined by the link has the permission of everyone.
    func problem(with share: ShareAnswer) -> RecordError? {
        for member in members {
            guard let wanted = member.permission,
                let found = share.participants.first(where: { $0.isNamed(by: member.address) }),
                found.permission != wanted
            else { continue }
            return RecordError(
                .unsupported,
                "\(member.address) joined by the link, and has the rights of everyone. Change these, or "
                    + "let nobody join by the link (permit PATH everyone none) and invite by name.")
        }
        return nil
    }

    /// Returns the new list of participants of a share. Returns nil when the edit does not change
    /// it.
    ///
    /// Errors: invalidArgument for a person to remove who is not a participant, and for the owner.
    func participants(
        of share: ShareAnswer?
    ) throws(RecordError) -> [ParticipantDictionary]? {
        let invited = try members + approvedMembers(of: share)
        guard !invited.isEmpty || !removed.isEmpty || link != nil else { return nil }
        let everyone = publicPermission ?? share?.publicPermission ?? .none
        var present = share?.participants.filter { $0.type != .owner } ?? []
        for address in removed + invited.map(\.address)
        where share?.owner?.isNamed(by: address) == true {
            throw RecordError(.invalidArgument, "\(address) is the owner, and has all rights.")
        }
        for address in removed {
            if let link = share?.links.first(where: {
                $0.url == address || $0.participantID == address
            }) {
                present.removeAll { $0.id == link.participantID }
                continue
            }
            guard present.contains(where: { $0.isNamed(by: address) }) else {
                throw RecordError(.notFound, "\(address) is no participant.")
            }
            present.removeAll { $0.isNamed(by: address) }
        }
        var list = present.map(\.kept)
        if let link {
            guard everyone == .none else {
                throw RecordError(
                    .unsupported,
                    "anybody with the link of the share may join: send that one (share url), or permit "
                        + "everyone none first.")
            }
            list.append(link.participant)
        }
        for member in invited {
            let type: ParticipantType? = member.isAdministrator.map { $0 ? .administrator : .user }
            let place = present.firstIndex {
                $0.isNamed(by: member.address) || member.user != nil && $0.user == member.user
            }
            if let place {
                list[place].type = type ?? list[place].type
                list[place].permission = member.permission ?? list[place].permission
            } else {
                guard !member.isPresent else {
                    throw RecordError(
                        .notFound,
                        "\(member.address) is no participant. recordfs share add invites people.")
                }
                guard everyone == .none else {
                    throw RecordError(
                        .unsupported,
                        "\(member.address) cannot be invited while anybody with the link may join: send "
                            + "the link, or permit everyone none first.")
                }
                var lookup = UserLookup(writtenAs: member.address)
                lookup.userName = member.user ?? lookup.userName
                list.append(
                    ParticipantDictionary(
                        lookup: lookup, type: type ?? .user,
                        permission: member.permission ?? .readOnly))
            }
        }
        return list
    }
}
