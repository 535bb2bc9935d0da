import RecordModel

extension JSONReader {
    /// Reads an integer, as a number, as `numbersAsStrings` prints it, or true and false.
    func wireInt64() throws(ServerError) -> Int64 {
        switch value {
        case .bool(let value): return value ? 1 : 0
        case .string(let text):
            guard let number = DecimalText.int64(text) else {
                throw error("takes an integer of 64 bits, and this string is none.")
            }
            return number
        default: return try int64()
        }
    }

    func wireDouble() throws(ServerError) -> Double {
        guard case .string(let text) = value else { return try double() }
        guard let number = DecimalText.double(text) else {
            throw error("takes a number, and this string is none.")
        }
        return number
    }

    /// Reads milliseconds since 1970, from the year 0, which means "not set", to 9999.
    func milliseconds(_ rules: ValueRules) throws(ServerError) -> Int64 {
        let milliseconds: Int64
        switch value {
        case .string(let text):
            guard let number = DecimalText.int64(text) else {
                throw error("takes whole milliseconds since 1970, and this string is none.")
            }
            milliseconds = number
        case .number(let number):
            if let whole = number.int64 {
                milliseconds = whole
            } else {
                milliseconds = try rounded(number.double, rules)
            }
        default: milliseconds = try int64()
        }
        guard WireTime.range.contains(milliseconds) else {
            throw error("takes milliseconds since 1970, and this is before year 0 or after 9999.")
        }
        return milliseconds
    }

    private func rounded(_ fraction: Double, _ rules: ValueRules) throws(ServerError) -> Int64 {
        guard !rules.isStrict else { throw error("takes whole milliseconds, and has a fraction.") }
        guard let milliseconds = WireTime.milliseconds(fraction) else {
            throw error("takes milliseconds since 1970, and this is before year 0 or after 9999.")
        }
        return milliseconds
    }

    func base64() throws(ServerError) -> [UInt8] {
        guard let bytes = Base64.decode(try string().utf8) else {
            throw error("takes base64, padded with = and without line breaks.")
        }
        return bytes
    }

    func location(isStrict: Bool = false) throws(ServerError) -> Location {
        _ = try object()
        let latitude = try required("latitude").double()
        let longitude = try required("longitude").double()
        guard var location = Location(latitude: latitude, longitude: longitude) else {
            throw error("has a latitude outside -90...90 or a longitude outside -180...180.")
        }
        location.altitude = try self["altitude"]?.double()
        location.horizontalAccuracy = try self["horizontalAccuracy"]?.double()
        location.verticalAccuracy = try self["verticalAccuracy"]?.double()
        location.course = try self["course"]?.double()
        location.speed = try self["speed"]?.double()
        location.timestampMilliseconds = try self["timestamp"].map { (json) throws(ServerError) in
            try json.milliseconds(ValueRules(isStrict: isStrict))
        }
        return location
    }
}

extension WireReference {
    init(_ json: JSONReader, _ rules: ValueRules) throws(ServerError) {
        self.init(name: try RecordName(try json.required("recordName")))
        zone = try json["zoneID"].map(ZoneIdentifier.init(_:))
        if let action: Reference.Action = try json.choice("action") {
            self.action = action
        } else if rules.isStrict, !rules.isInQuery {
            throw json.error("lacks action: NONE, DELETE_SELF or VALIDATE.")
        }
    }
}

extension WireAsset {
    /// The longest of the texts that the server returned for the upload, in bytes.
    static let maximumTextBytes = 4_096

    /// Reads an asset dictionary. The check of the receipt decides which keys a write needs.
    package init(_ json: JSONReader) throws(ServerError) {
        let checksum = try json.required("fileChecksum")
        let size = try json.required("size")
        self.init(fileChecksum: try checksum.string(), size: try size.wireInt64())
        guard Self.isChecksum(fileChecksum) else {
            throw checksum.error("is no file checksum: base64 of 21 bytes, as the upload gave it.")
        }
        guard self.size >= 0 else { throw size.error("is negative.") }
        let most = Self.maximumTextBytes
        referenceChecksum = try json.string("referenceChecksum", maximumBytes: most)
        wrappingKey = try json.string("wrappingKey", maximumBytes: most)
        receipt = try json.string("receipt", maximumBytes: most)
        downloadURL = try json.string("downloadURL", maximumBytes: most)
        // A server refuses an invalid one (`FileExtension`). A client shows the record
        // nevertheless.
        fileExtension = try json.string("fileExtension", maximumBytes: most)
        sha256 = try json.string("sha256", maximumBytes: 64).map { (hex) throws(ServerError) in
            guard let hash = ContentHash(digits: hex), hash.hex == hex.string else {
                throw json.error("has a sha256 that is not 64 hexadecimal digits in lower case.")
            }
            return hash
        }
    }

    /// Returns whether the text is base64 of a 0x01 and 20 bytes.
    static func isChecksum(_ text: Text) -> Bool {
        guard text.utf8.count == 28, let bytes = Base64.decode(text.utf8) else { return false }
        return bytes.count == 21 && bytes[0] == 1
    }
}

/// The times that a record can hold.
enum WireTime {
    /// The range from 0000-01-01 to the end of 9999. Clients write the first days for "not set".
    static let range: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999

    /// Returns the rounded milliseconds. Returns nil outside of the range.
    static func milliseconds(_ fraction: Double) -> Int64? {
        Int64(exactly: fraction.rounded()).flatMap { range.contains($0) ? $0 : nil }
    }
}

/// Numbers in strings, as `numbersAsStrings` prints them.
enum DecimalText {
    static func int64(_ text: Text) -> Int64? {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text.string)
    }

    /// Returns a number that JSON accepts.
    static func double(_ text: Text) -> Double? {
        guard let first = text.utf8.first, first == 0x2D || (0x30...0x39).contains(first),
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0) }),
            let number = Double(text.string), number.isFinite
        else { return nil }
        return number
    }
}
