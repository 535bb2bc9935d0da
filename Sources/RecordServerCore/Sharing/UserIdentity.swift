package import RecordModel
import RecordWire

/// The user identity dictionary (CloudKit Web Services Reference, Types and Dictionaries), with
/// as much as its reader may know.
struct UserIdentity {
    var userName: UserName?
    /// The account whose name is shown. It is nil when no name is shown.
    var account: UserRow?
    /// The addresses that are shown.
    var lookup: UserLookup

    var json: JSONValue {
        var members: [JSONMember] = []
        if let userName {
            members.append(JSONMember(key: "userRecordName", value: .string(userName.text)))
        }
        if let account { members.append(JSONMember(key: "nameComponents", value: account.names)) }
        var addresses: [JSONMember] = []
        if let address = lookup.emailAddress {
            addresses.append(JSONMember(key: "emailAddress", value: .string(address)))
        }
        if let number = lookup.phoneNumber {
            addresses.append(JSONMember(key: "phoneNumber", value: .string(number)))
        }
        if !addresses.isEmpty {
            members.append(JSONMember(key: "lookupInfo", value: .object(addresses)))
        }
        return .object(members)
    }
}

extension UserIdentity {
    /// Makes the identity of an owner, as the people see it that the owner shares something with.
    init(
        owner name: UserName, showsAddress: Bool, _ reader: any StorageReader
    ) throws(ServerError) {
        let account = try reader.user(name)
        self.init(
            userName: name, account: account,
            lookup: UserLookup(emailAddress: showsAddress ? account?.emailAddress : nil))
    }
}

extension UserRow {
    /// The `nameComponents`. An empty part is left out.
    var names: JSONValue {
        var members: [JSONMember] = []
        if !givenName.isEmpty {
            members.append(JSONMember(key: "givenName", value: .string(givenName)))
        }
        if !familyName.isEmpty {
            members.append(JSONMember(key: "familyName", value: .string(familyName)))
        }
        return .object(members)
    }
}

extension UserName {
    package var text: Text { Text(utf8: bytes) }
}
