package import RecordModel
package import RecordWire

extension UserLookup {
    /// The lookup in the spelling in which addresses are stored and compared: e-mail addresses in
    /// lower case, telephone numbers as digits after an optional plus sign.
    package var normalised: UserLookup {
        UserLookup(
            emailAddress: emailAddress?.lowercased,
            phoneNumber: phoneNumber.map(Self.digits), userName: userName)
    }

    package static func digits(_ number: Text) -> Text {
        let kept = number.utf8.enumerated().filter { index, byte in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || index == 0 && byte == UInt8(ascii: "+")
        }
        return Text(utf8: kept.map(\.element))
    }
}

extension UserRow {
    /// Returns whether one of the (normalised) addresses belongs to this account.
    func hasAddress(of lookup: UserLookup) -> Bool {
        if let address = lookup.emailAddress, !address.isEmpty, address == emailAddress {
            return true
        }
        guard let number = lookup.phoneNumber, !number.isEmpty, let own = phoneNumber else {
            return false
        }
        return UserLookup.digits(own) == number
    }
}
