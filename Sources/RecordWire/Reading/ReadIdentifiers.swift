package import RecordModel

extension ZoneIdentifier {
    /// Reads a zoneID dictionary. It is the default zone when it names none, and the caller's when
    /// it names no owner. `zoneType` is ignored.
    package init(_ json: JSONReader) throws(ServerError) {
        _ = try json.object()
        let zone = try json["zoneName"].map(ZoneName.init(_:)) ?? ZoneIdentifier.defaultZone.zone
        let owner = try json.either("ownerRecordName", "ownerName").map(UserName.init(_:))
        self.init(zone: zone, owner: owner == .defaultOwner ? nil : owner)
    }
}

extension JSONReader {
    /// Returns the zone of a request. It is the default zone when the request has none.
    func zoneID(_ key: String = "zoneID") throws(ServerError) -> ZoneIdentifier {
        try self[key].map(ZoneIdentifier.init(_:)) ?? .defaultZone
    }
}

extension ZoneName {
    init(_ json: JSONReader) throws(ServerError) {
        self.init(bytes: try json.string().utf8)
        guard isValid else {
            throw json.error("is no name of a zone: 1 to 255 bytes without control characters.")
        }
    }
}

extension UserName {
    package init(_ json: JSONReader) throws(ServerError) {
        self.init(bytes: try json.string().utf8)
        guard PlainName.isValid(bytes) else { throw json.error("is no record name of a user.") }
    }
}

extension RecordName {
    /// Reads the name of a record: 1 to 255 bytes of UTF-8 without control characters. Apple's
    /// reference allows ASCII only (`isDocumented`).
    package init(_ json: JSONReader) throws(ServerError) {
        self.init(bytes: try json.string().utf8)
        guard isOfWire else {
            throw json.error(
                "is no name of a record: 1 to 255 bytes of UTF-8 without control characters.")
        }
    }

    /// Indicates whether a server that follows Apple's reference accepts the name: 1 to 255
    /// printable characters of ASCII.
    package var isDocumented: Bool { PlainName.isValid(bytes) }
}

extension RecordTypeName {
    /// Reads the name of a type. The share type in any case, and in the form of Apple's prose,
    /// becomes `cloudkit.share`.
    package init(_ json: JSONReader) throws(ServerError) {
        self.init(bytes: try json.string().utf8)
        if bytes.count <= 16 {
            let folded = String(decoding: bytes, as: UTF8.self).lowercased()
            if folded == "cloudkit.share" || folded == "cloudkit.shared" { self = .share }
        }
        guard isValid || self == .share else {
            throw json.error(
                "is no name of a record type: a letter and then letters, digits or _, at most 255.")
        }
    }
}

extension FieldName {
    package init(_ json: JSONReader) throws(ServerError) {
        self.init(bytes: try json.string().utf8)
        guard isValid || isShareField else { throw json.error(Self.rule) }
    }

    static let rule =
        "is no name of a field: a letter and then letters, digits or _, at most 255 characters."

    /// Indicates whether only records of type `cloudkit.share` have fields with this name, such as
    /// `cloudkit.title`.
    package var isShareField: Bool {
        bytes.starts(with: Self.sharePrefix)
            && FieldName(bytes: Array(bytes.dropFirst(Self.sharePrefix.count))).isValid
    }

    private static let sharePrefix = Array("cloudkit.".utf8)
}

enum PlainName {
    static func isValid(_ bytes: [UInt8]) -> Bool {
        (1...ServerLimits.nameBytes).contains(bytes.count)
            && bytes.allSatisfy { (0x20...0x7E).contains($0) }
    }
}

extension UserLookup {
    /// Reads a lookupInfo dictionary. The caller checks which of its keys are there.
    package init(_ json: JSONReader) throws(ServerError) {
        _ = try json.object()
        self.init(
            emailAddress: try json.string("emailAddress", maximumBytes: 320).map(\.lowercased),
            phoneNumber: try json.string("phoneNumber", maximumBytes: 64),
            userName: try json["userRecordName"].map(UserName.init(_:)))
    }

    package var isEmpty: Bool { emailAddress == nil && phoneNumber == nil && userName == nil }
}

extension Text {
    /// The text with its ASCII letters in lower case, the form in which e-mail addresses are
    /// compared.
    package var lowercased: Text {
        Text(utf8: utf8.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 })
    }
}
