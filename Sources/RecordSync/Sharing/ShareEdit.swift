package import RecordModel
package import RecordWire

/// What somebody wants of a share: to make it, or to change it.
package struct ShareEdit: Hashable, Sendable {
    /// Somebody who shall have the share, or is to have it in another way.
    package struct Member: Hashable, Sendable {
        /// An e-mail address, a telephone number or the name of a user.
        package var address: Text
        /// Nil leaves it as it is; a new member may read.
        package var permission: SharePermission?
        /// Whether the member may invite others; nil leaves it as it is.
        package var isAdministrator: Bool?
        /// Whether nobody is to be invited who is not there.
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
    /// What kind of thing it is; nil leaves it as it is, as with the thumbnail.
    package var type: Change<Text>?
    package var thumbnail: Change<ShareThumbnail>?
    /// What anybody with the link may do; nil leaves it as it is.
    package var publicPermission: SharePermission?
    package var members: [Member] = []
    /// Addresses of those who go.
    package var removed: [Text] = []
    /// Those who have asked for access and get it.
    package var approved: [Member] = []
    /// Those who have asked for access and do not get it.
    package var denied: [Text] = []
    /// Whether those cannot ask again, nor come in by any link.
    package var blocksDenied = false
    /// Whether people may ask for access; nil leaves it as it is.
    package var takesRequests: Bool?
    /// A one-time link to make.
    package var link: NewLink?

    package init() {}
}

extension ShareEdit {
    /// `{"title": …, "publicPermission": …, "members": [{"address": …, "permission": …,
    /// "administrator": …}], "removed": […]}`, each of which may be left out.
    ///
    /// Besides, what `readAppearance` and `readAccess` read. Errors: invalidArgument, and theirs.
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
    /// Nil for what is none of the words.
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

    /// How somebody is meant by what a person writes: `a@b.c`, `+49 30 1234567`, or the name of a user,
    /// which begins with `_`.
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
    /// Whether somebody is meant by what a person writes.
    func isNamed(by address: Text) -> Bool {
        let lookup = UserLookup(writtenAs: address)
        if let wanted = lookup.userName { return user == wanted }
        if let wanted = lookup.emailAddress {
            return emailAddress?.string.lowercased() == wanted.string.lowercased()
        }
        let digits = address.string.filter { $0.isNumber || $0 == "+" }
        return phoneNumber?.string.filter { $0.isNumber || $0 == "+" } == digits
    }

    /// As a request names it, as it is.
    fileprivate var kept: ParticipantDictionary {
        ParticipantDictionary(
            participantID: id, lookup: UserLookup(userName: user), type: type,
            permission: permission)
    }
}

extension ShareEdit {
    /// What the server has taken without doing it: who has joined by the link may what everyone may.
    func problem(with share: ShareAnswer) -> RecordError? {
        for member in members {
            guard let wanted = member.permission,
                let found = share.participants.first(where: { $0.isNamed(by: member.address) }),
                found.permission != wanted
            else { continue }
            return RecordError(
                .unsupported,
                "\(member.address) has joined by the link, and may what everyone may. Change that, or "
                    + "let nobody join by the link (permit PATH everyone none) and invite by name.")
        }
        return nil
    }

    /// The list of participants that a share is to have; nil when the edit leaves it as it is.
    ///
    /// Errors: invalidArgument for somebody to remove who is not there, and for the owner.
    func participants(
        of share: ShareAnswer?
    ) throws(RecordError) -> [ParticipantDictionary]? {
        let invited = try members + approvedMembers(of: share)
        guard !invited.isEmpty || !removed.isEmpty || link != nil else { return nil }
        let everyone = publicPermission ?? share?.publicPermission ?? .none
        var present = share?.participants.filter { $0.type != .owner } ?? []
        for address in removed + invited.map(\.address)
        where share?.owner?.isNamed(by: address) == true {
            throw RecordError(.invalidArgument, "\(address) is the owner, who has all of it.")
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
                        "\(member.address) is no participant. recordfs share add invites somebody.")
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
