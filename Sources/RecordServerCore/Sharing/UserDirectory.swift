import RecordModel
import RecordWire

/// Returns the caller's identity, and the users who can be invited (Protocol, "Paths, users and
/// tokens").
struct UserDirectory: Sendable {
    let resources: ServiceResources

    /// Answers users/caller and users/current: the identity, both in `users` and at the top, and
    /// also the names of the older shape.
    func currentUser(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> [UInt8]
    {
        let user = try context.requireUser()
        try await makeUsersRecord(context)
        let identity = UserIdentity(
            userName: user.name, account: user,
            lookup: UserLookup(emailAddress: user.emailAddress, phoneNumber: user.phoneNumber)
        ).json
        return AnswerWriter.object { answer in
            answer.member("users", [identity])
            for member in identity.object ?? [] { answer.member(member.key.string, member.value) }
            answer.member("firstName", user.givenName)
            answer.member("lastName", user.familyName)
            answer.member("emailAddress", user.emailAddress)
        }
    }

    /// Makes the `Users` record when it is missing, because sessions and keys may be older than the
    /// record.
    private func makeUsersRecord(_ context: OperationContext) async throws(ServerError) {
        let record = try UsersRecord(of: context)
        let exists = try await resources.storage.read { reader throws(ServerError) in
            try record.exists(reader)
        }
        guard !exists else { return }
        try await resources.storage.write { transaction throws(ServerError) in
            try record.put(transaction)
        }
    }

    /// Answers users/discover: the users who agree to be found, by address or name (POST) or all of
    /// them (GET). A user who is not found is not in the answer, whatever the reason.
    func discoverUsers(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> [UInt8]
    {
        let caller = try context.requireUser()
        guard !context.isGet else {
            let users = try await discoverable(for: caller)
            return AnswerWriter.object { answer in
                answer.member(
                    "users",
                    users.map {
                        UserIdentity(userName: $0.name, account: $0, lookup: UserLookup()).json
                    })
            }
        }
        let lookups = try UserLookup.discoverList(
            JSONReader(body), limits: resources.settings.requestLimits)
        let found = try await find(lookups, for: caller)
        return AnswerWriter.object { answer in
            answer.member(
                "users",
                found.map {
                    UserIdentity(userName: $0.user.name, account: $0.user, lookup: $0.lookup).json
                })
        }
    }

    /// Answers users/lookup/email, id and contacts, in the older user dictionary.
    func lookupUsers(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> [UInt8]
    {
        let caller = try context.requireUser()
        var found: [FoundUser]
        if context.endpoint == .usersLookupContacts {
            found = try await discoverable(for: caller).map {
                FoundUser(user: $0, lookup: UserLookup())
            }
        } else {
            let lookups = try UserLookup.legacyList(
                JSONReader(body), limits: resources.settings.requestLimits)
            for (index, lookup) in lookups.enumerated() {
                try requireKey(of: lookup, index, context.endpoint)
            }
            found = try await find(lookups, for: caller)
        }
        return AnswerWriter.object { answer in
            answer.member("users", found.map(\.legacy))
        }
    }

    private func requireKey(of lookup: UserLookup, _ index: Int, _ endpoint: Endpoint)
        throws(ServerError)
    {
        let byName = endpoint == .usersLookupID
        guard byName ? lookup.userName != nil : lookup.emailAddress != nil else {
            throw ServerError(
                .badRequest,
                "users[\(index)] lacks \(byName ? "userRecordName" : "emailAddress").")
        }
    }

    /// Returns the users who agree to be found, without the caller, in the order of their e-mail
    /// addresses.
    private func discoverable(for caller: UserRow) async throws(ServerError) -> [UserRow] {
        let limit = resources.settings.maximumFeedResults
        return try await resources.storage.read { reader throws(ServerError) in
            let users = try reader.users().filter {
                $0.isDiscoverable && !$0.isDisabled && $0.name != caller.name
            }
            return Array(users.prefix(limit))
        }
    }

    /// Returns the users in the order of the request, each with the lookup that found them.
    private func find(_ lookups: [UserLookup], for caller: UserRow) async throws(ServerError)
        -> [FoundUser]
    {
        try await resources.storage.read { reader throws(ServerError) in
            var found: [FoundUser] = []
            for lookup in lookups {
                guard let user = try reader.user(lookup.normalised, caller), !user.isDisabled,
                    user.isDiscoverable || user.name == caller.name
                else { continue }
                found.append(FoundUser(user: user, lookup: lookup))
            }
            return found
        }
    }
}

/// A user who was found, with the lookup that found them.
private struct FoundUser: Sendable {
    let user: UserRow
    let lookup: UserLookup

    /// The older user dictionary. It has the e-mail address only when the caller knew it.
    var legacy: JSONValue {
        var members = [
            JSONMember(key: "userRecordName", value: .string(user.name.text)),
            JSONMember(key: "firstName", value: .string(user.givenName)),
            JSONMember(key: "lastName", value: .string(user.familyName)),
        ]
        if let address = lookup.emailAddress {
            members.append(JSONMember(key: "emailAddress", value: .string(address)))
        }
        return .object(members)
    }
}

extension AccountReader {
    /// Returns a user by the first of user name, e-mail address and telephone number that the
    /// lookup has.
    func user(_ lookup: UserLookup, _ caller: UserRow) throws(ServerError) -> UserRow? {
        if let name = lookup.userName {
            return try user(name == .defaultOwner ? caller.name : name)
        }
        if let address = lookup.emailAddress { return try user(emailAddress: address) }
        if let number = lookup.phoneNumber { return try user(phoneNumber: number) }
        return nil
    }
}
