package import RecordModel
package import RecordWire

/// Requests for access and one-time links.
extension ShareEdit {
    /// A link by which one person can join: the first one who opens it.
    package struct NewLink: Hashable, Sendable {
        /// The random identifier by which the link is found in the answer.
        package var id: Text
        package var permission: SharePermission

        package init(id: Text, permission: SharePermission) {
            self.id = id
            self.permission = permission
        }

        var participant: ParticipantDictionary {
            ParticipantDictionary(
                participantID: id, lookup: UserLookup(), type: .user, permission: permission)
        }
    }

    /// Reads `{"approved": [{"address": …, "permission": …}], "denied": […], "blocksDenied": true,
    /// "takesRequests": true, "link": {"id": …, "permission": …}}`. Each member may be left out.
    ///
    /// Errors: invalidArgument.
    mutating func readAccess(_ json: JSONValue) throws(RecordError) {
        for member in json["approved"]?.array ?? [] {
            approved.append(
                Member(
                    address: member["address"]?.string ?? "",
                    permission: try member["permission"].map(Self.permission)))
        }
        denied = json["denied"]?.array?.compactMap(\.string) ?? []
        blocksDenied = json["blocksDenied"]?.bool ?? false
        takesRequests = json["takesRequests"]?.bool
        guard let link = json["link"], let permission = link["permission"] else { return }
        self.link = NewLink(
            id: link["id"]?.string ?? "", permission: try Self.permission(permission))
    }

    var accessMembers: [JSONMember] {
        var members: [JSONMember] = []
        if !approved.isEmpty {
            members.append(JSONMember(key: "approved", value: .array(approved.map(\.json))))
        }
        if !denied.isEmpty {
            members.append(JSONMember(key: "denied", value: .array(denied.map { .string($0) })))
            members.append(JSONMember(key: "blocksDenied", value: .bool(blocksDenied)))
        }
        if let takesRequests {
            members.append(JSONMember(key: "takesRequests", value: .bool(takesRequests)))
        }
        if let link {
            let value: JSONValue = [
                "id": .string(link.id), "permission": JSONValue(link.permission.rawValue),
            ]
            members.append(JSONMember(key: "link", value: value))
        }
        return members
    }

    /// Returns the approved people by their names at the server, because an address may belong to
    /// somebody else by now. The address is included: the people are known by it from then on.
    ///
    /// Errors: notFound for a person who does not ask for access.
    func approvedMembers(of share: ShareAnswer?) throws(RecordError) -> [Member] {
        var members: [Member] = []
        for member in approved {
            let requester = try Self.requester(member.address, of: share)
            var named = member
            named.user = requester.user
            members.append(named)
        }
        return members
    }

    /// Adds the denied people, the setting for requests and the new link to the request.
    ///
    /// Errors: notFound for a person who does not ask for access.
    func answerRequests(
        _ request: inout ShareDictionary, _ share: ShareAnswer?
    ) throws(RecordError) {
        if let link {
            request.oneTimeLinks = (share?.links ?? []).map(\.participantID) + [link.id]
        }
        request.deniesAccessRequests = takesRequests.map { !$0 }
        guard !denied.isEmpty else { return }
        var gone: [ParticipantAnswer] = []
        for address in denied { gone.append(try Self.requester(address, of: share)) }
        let left = (share?.requesters ?? []).filter { !gone.contains($0) }
        request.requesters = left.map(\.lookup)
        if blocksDenied {
            request.blocked = ((share?.blocked ?? []) + gone).map(\.wholeLookup)
        }
    }

    private static func requester(
        _ address: Text, of share: ShareAnswer?
    ) throws(RecordError) -> ParticipantAnswer {
        let found = share?.requesters.first { $0.isNamed(by: address) }
        guard let found else {
            throw RecordError(
                .notFound,
                "\(address) does not ask for access. recordfs share requests lists the people.")
        }
        return found
    }
}

extension ParticipantAnswer {
    /// The name at the server, or otherwise the address.
    fileprivate var lookup: UserLookup {
        if let user { return UserLookup(userName: user) }
        return UserLookup(emailAddress: emailAddress, phoneNumber: phoneNumber)
    }

    /// The name at the server together with the address, so that an invitation to the address ends
    /// the block. The server does not connect the two by itself, because that would reveal who owns
    /// an address.
    fileprivate var wholeLookup: UserLookup {
        UserLookup(emailAddress: emailAddress, phoneNumber: phoneNumber, userName: user)
    }
}
