package import RecordModel

/// The `type` of a field dictionary of a request.
struct ValueTag: Hashable {
    enum Shape: Hashable {
        case scalar(FieldType)
        case list(FieldType)
        /// Plain `LIST`, `UNKNOWN_LIST`: the elements determine their type.
        case anyList
        /// `NUMBER`, which is INT64 or DOUBLE depending on its spelling.
        case anyNumber
    }

    let shape: Shape
    let isEncrypted: Bool

    private init(_ shape: Shape, isEncrypted: Bool = false) {
        self.shape = shape
        self.isEncrypted = isEncrypted
    }

    private static let known: [Text: ValueTag] = {
        var known: [Text: ValueTag] = [
            "LIST": ValueTag(.anyList), "UNKNOWN_LIST": ValueTag(.anyList),
            "NUMBER": ValueTag(.anyNumber),
        ]
        let scalars: [(String, FieldType, Bool)] = [
            ("STRING", .string, false), ("INT64", .int64, false), ("DOUBLE", .double, false),
            ("NUMBER_INT64", .int64, false), ("NUMBER_DOUBLE", .double, false),
            ("TIMESTAMP", .timestamp, false), ("BYTES", .bytes, false),
            ("ENCRYPTED_BYTES", .bytes, true), ("LOCATION", .location, false),
            ("REFERENCE", .reference, false), ("ASSET", .asset, false), ("ASSETID", .asset, false),
        ]
        for (name, type, isEncrypted) in scalars {
            known[Text(name)] = ValueTag(.scalar(type), isEncrypted: isEncrypted)
            known[Text(name + "_LIST")] = ValueTag(.list(type), isEncrypted: isEncrypted)
        }
        return known
    }()

    init(_ json: JSONReader) throws(ServerError) {
        guard let tag = Self.known[try json.string()] else {
            throw json.error(
                "takes STRING, INT64, DOUBLE, TIMESTAMP, BYTES, ENCRYPTED_BYTES, LOCATION, "
                    + "REFERENCE or ASSETID, or one of them with _LIST.")
        }
        self = tag
    }
}

extension WireField {
    /// The longest `modified` stamp, in bytes.
    package static let maximumStampBytes = 256

    /// Reads a field dictionary: `value`, `type`, `isEncrypted` and the extensions `modified` and
    /// `isJSON`. A value that is null or absent clears the field.
    package init(
        name: FieldName, _ json: JSONReader, limits: RequestLimits = .standard,
        isInQuery: Bool = false
    ) throws(ServerError) {
        guard case .object = json.value else {
            throw json.error(
                "takes an object with value and type, and this is \(json.value.kind).")
        }
        if !limits.isStrict, !isInQuery, json["type"]?.value.string == TextSplice.tag {
            self.init(
                name: name, value: nil, type: .string,
                stamp: try json.string("modified", maximumBytes: Self.maximumStampBytes))
            splice = try TextSplice(try json.required("value"))
            isJSON = try json.bool("isJSON", default: false)
            return
        }
        let tag = try json["type"].map(ValueTag.init(_:))
        if limits.isStrict, !isInQuery, tag == nil, json["value"] != nil {
            throw json.error("lacks type, such as STRING.")
        }
        let isEncrypted = try json.bool("isEncrypted", default: false)
        let rules = ValueRules(isStrict: limits.isStrict, isInQuery: isInQuery)
        let typed = try json["value"].map { (value) throws(ServerError) in
            try value.typedValue(tag, rules)
        }
        self.init(
            name: name, value: typed?.value, type: typed?.type,
            isEncrypted: isEncrypted || tag?.isEncrypted == true,
            stamp: try json.string("modified", maximumBytes: Self.maximumStampBytes))
        isTagged = typed?.isTagged ?? true
        if case .string = value { isJSON = try json.bool("isJSON", default: false) }
    }
}

/// The rules for reading values.
struct ValueRules: Sendable {
    /// Indicates whether nothing is guessed: whole milliseconds, 1 and 0, references with their
    /// action.
    var isStrict = false
    /// Indicates whether the value is in a query, where references need no action.
    var isInQuery = false
}

struct TypedValue {
    var value: WireValue
    /// The type. It is nil for an empty list whose elements are not known.
    var type: FieldType?
    /// Indicates whether the request gave the type, so that the schema must agree with it.
    var isTagged: Bool
}

extension JSONReader {
    func typedValue(_ tag: ValueTag?, _ rules: ValueRules) throws(ServerError) -> TypedValue {
        switch tag?.shape {
        case .scalar(let type):
            return TypedValue(value: try scalar(type, rules), type: type, isTagged: true)
        case .list(let element):
            let elements = try array()
            var values: [WireValue] = []
            values.reserveCapacity(elements.count)
            for json in elements { values.append(try json.scalar(element, rules)) }
            return TypedValue(value: .list(values), type: .list(element), isTagged: true)
        case .anyList:
            _ = try array()
            return try inferred(rules)
        case .anyNumber:
            _ = try double()
            return try inferred(rules)
        case nil: return try inferred(rules)
        }
    }

    /// Returns the value by the shape of the JSON. Lists are of one kind. Integers among fractions
    /// are fractions.
    private func inferred(_ rules: ValueRules) throws(ServerError) -> TypedValue {
        guard case .array = value else {
            let type = try inferredType()
            return TypedValue(value: try scalar(type, rules), type: type, isTagged: false)
        }
        let elements = try array()
        var common: FieldType?
        for element in elements {
            let type = try element.inferredType()
            switch (common, type) {
            case (nil, _): common = type
            case (.int64, .double): common = .double
            case (.double, .int64): break
            case (let known?, _) where known == type: break
            default: throw error("is a list of several kinds; a list has elements of one type.")
            }
        }
        guard let common else { return TypedValue(value: .list([]), type: nil, isTagged: false) }
        var values: [WireValue] = []
        values.reserveCapacity(elements.count)
        for element in elements { values.append(try element.scalar(common, rules)) }
        return TypedValue(value: .list(values), type: .list(common), isTagged: false)
    }

    private func inferredType() throws(ServerError) -> FieldType {
        switch value {
        case .bool: return .int64
        case .number(let number): return number.int64 == nil ? .double : .int64
        case .string: return .string
        case .object:
            if self["recordName"] != nil { return .reference }
            if self["latitude"] != nil { return .location }
            if self["fileChecksum"] != nil { return .asset }
            throw error("is an object of no known kind: a reference, location or asset.")
        case .null: throw error("takes a value, and this is null.")
        case .array: throw error("is a list in a list; a list has scalar elements.")
        }
    }

    func scalar(_ type: FieldType, _ rules: ValueRules) throws(ServerError) -> WireValue {
        switch type {
        case .string, .json: return .string(try string())
        case .int64:
            if rules.isStrict, case .bool = value {
                throw error("takes 1 or 0, and this is \(value.kind).")
            }
            return .int64(try wireInt64())
        case .double: return .double(try wireDouble())
        case .timestamp: return .timestamp(milliseconds: try milliseconds(rules))
        case .bytes: return .bytes(try base64())
        case .location: return .location(try location(isStrict: rules.isStrict))
        case .reference: return .reference(try WireReference(self, rules))
        case .asset: return .asset(try WireAsset(self))
        case .list: throw error("is a list in a list; a list has scalar elements.")
        }
    }
}
