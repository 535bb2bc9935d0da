package import RecordModel

/// The options for printing values.
package struct ValueOptions: Hashable, Sendable {
    /// Indicates whether INT64 is in quotes, for clients whose numbers are doubles.
    package var numbersAsStrings: Bool
    /// Indicates whether lists are tagged `LIST` instead of with the type of their elements.
    package var plainListTags: Bool
    /// Indicates whether assets have all their keys. If not, they have only the keys of their
    /// content.
    package var hasAssetKeys: Bool

    package init(
        numbersAsStrings: Bool = false, plainListTags: Bool = false, hasAssetKeys: Bool = true
    ) {
        self.numbersAsStrings = numbersAsStrings
        self.plainListTags = plainListTags
        self.hasAssetKeys = hasAssetKeys
    }

    package static let standard = ValueOptions()
    package static let stored = ValueOptions(hasAssetKeys: false)
}

extension FieldType {
    /// The `type` of an answer: `ASSETID` for assets, `STRING` for the JSON extension.
    package var wireTag: String {
        switch self {
        case .string, .json: "STRING"
        case .asset: "ASSETID"
        case .list(let element): element.wireTag + "_LIST"
        case .int64, .double, .timestamp, .bytes, .location, .reference: name
        }
    }
}

extension WireField: AnswerValue {
    /// Returns the tag of an answer. A list with unknown elements is `UNKNOWN_LIST`.
    func tag(_ options: ValueOptions) -> String {
        if case .list = value, options.plainListTags { return "LIST" }
        let type = type ?? value?.impliedType
        if isEncrypted, type == .bytes { return "ENCRYPTED_BYTES" }
        return type?.wireTag ?? "UNKNOWN_LIST"
    }

    package func write(to answer: inout AnswerWriter) { write(to: &answer, options: .standard) }

    /// Prints the field dictionary, without the name.
    package func write(to answer: inout AnswerWriter, options: ValueOptions) {
        answer.object { answer in
            answer.key("value")
            if let splice {
                splice.write(to: &answer)
                answer.member("type", TextSplice.tag)
                answer.member("modified", stamp)
                if isJSON { answer.member("isJSON", true) }
                return
            }
            if let value {
                value.write(to: &answer, options: options)
            } else {
                answer.tree(.null)
            }
            if value != nil || type != nil { answer.member("type", tag(options)) }
            if isEncrypted { answer.member("isEncrypted", true) }
            answer.member("modified", stamp)
            if isJSON { answer.member("isJSON", true) }
        }
    }
}

extension WireValue {
    /// The type of the value without a schema. It is nil for an empty list.
    package var impliedType: FieldType? {
        switch self {
        case .string: .string
        case .int64: .int64
        case .double: .double
        case .timestamp: .timestamp
        case .bytes: .bytes
        case .location: .location
        case .reference: .reference
        case .asset: .asset
        case .list(let elements): elements.first?.impliedType.map { .list($0) }
        }
    }

    package func write(to answer: inout AnswerWriter, options: ValueOptions) {
        switch self {
        case .string(let text): answer.string(text.utf8)
        case .int64(let number):
            if options.numbersAsStrings {
                answer.value(String(number))
            } else {
                answer.value(number)
            }
        case .double(let number): answer.value(number)
        case .timestamp(let milliseconds): answer.value(milliseconds)
        case .bytes(let bytes): answer.string(Base64.encode(bytes))
        case .location(let location): location.write(to: &answer)
        case .reference(let reference): reference.write(to: &answer)
        case .asset(let asset): asset.write(to: &answer, hasAllKeys: options.hasAssetKeys)
        case .list(let elements):
            answer.array { answer in
                for element in elements { element.write(to: &answer, options: options) }
            }
        }
    }
}

extension Location: AnswerValue {
    package func write(to answer: inout AnswerWriter) {
        answer.object { answer in
            answer.member("latitude", latitude)
            answer.member("longitude", longitude)
            answer.member("horizontalAccuracy", horizontalAccuracy)
            answer.member("verticalAccuracy", verticalAccuracy)
            answer.member("altitude", altitude)
            answer.member("speed", speed)
            answer.member("course", course)
            answer.member("timestamp", timestampMilliseconds)
        }
    }
}

extension WireReference: AnswerValue {
    package func write(to answer: inout AnswerWriter) {
        answer.object { answer in
            answer.member("recordName", name)
            answer.member("action", action.rawValue)
            answer.member("zoneID", zone)
        }
    }
}

extension WireAsset: AnswerValue {
    package func write(to answer: inout AnswerWriter) { write(to: &answer, hasAllKeys: true) }

    /// Prints the keys that describe the content, and with `hasAllKeys` all other keys.
    func write(to answer: inout AnswerWriter, hasAllKeys: Bool) {
        answer.object { answer in
            answer.member("fileChecksum", fileChecksum)
            answer.member("size", size)
            answer.member("sha256", sha256.map { Text($0.hex) })
            answer.member("fileExtension", fileExtension)
            guard hasAllKeys else { return }
            answer.member("referenceChecksum", referenceChecksum)
            answer.member("wrappingKey", wrappingKey)
            answer.member("receipt", receipt)
            answer.member("downloadURL", downloadURL)
        }
    }
}
