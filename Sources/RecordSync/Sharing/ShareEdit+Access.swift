package import RecordModel
package import RecordWire

/// Requests for access and one-time links.
extension ShareEdit {
    /// A link by which one person can join, whoever opens it first.
    package struct NewLink: Hashable, Sendable {
        /// By which the link is found in the answer; drawn at random.
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

    /// `{"approved": [{"address": …, "permission": …}], "denied": […], "blocksDenied": true,
    /// "takesRequests": true, "link": {"id": …, "permission": …}}`, each of which may be left out.
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

    /// Those who are approved, by their names at the server, for an address might be somebody else's by
    /// now; with the address, by which they are known from then on.
    ///
    /// Errors: notFound for who does not ask.
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

    /// Puts into the request who is denied access, whether anybody may ask, and the new link.
    ///
    /// Errors: notFound for who does not ask.
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
                "\(address) does not ask for access. recordfs share requests says who does.")
        }
        return found
    }
}

extension ParticipantAnswer {
    /// The name at the server, or else the address.
    fileprivate var lookup: UserLookup {
        if let user { return UserLookup(userName: user) }
        return UserLookup(emailAddress: emailAddress, phoneNumber: phoneNumber)
    }

    /// The name at the server with the address: an invitation to the address lifts the block then. The
    /// server does not connect the two by itself, for that would tell whose an address is.
    fileprivate var wholeLookup: UserLookup {
        UserLookup(emailAddress: emailAddress, phoneNumber: phoneNumber, userName: user)
    }
}
