/// The forms of values in a text, as JSON Schema says them.
enum EditorForms {
    static func reference(_ name: String) -> JSONValue { ["$ref": JSONValue("#/$defs/\(name)")] }

    /// Returns what stands for no value. An empty list does in a field of one value: it may be older
    /// than the field's type.
    static func none(_ type: FieldType) -> JSONValue {
        switch type {
        case .list, .json: ["type": "null"]
        default: reference("none")
        }
    }

    /// The names of other objects.
    static let names: JSONValue = [
        "type": ["array", "null"], "items": ["type": "string", "minLength": 1],
    ]

    // MARK: Fields

    /// Returns the forms of a field's values.
    ///
    /// - Parameter isWhole: whether the field has whole numbers until now. Then it takes truth values.
    static func plain(_ type: FieldType, isWhole: Bool = false) -> [JSONValue] {
        switch type {
        case .string: [["type": "string"], reference("asset")]
        case .int64: integer(MemberRule())
        case .double: [["type": "number"]] + (isWhole ? [["type": "boolean"]] : [])
        case .timestamp: [reference("date"), reference("timestamp")]
        case .bytes: [reference("base64"), reference("bytes"), reference("asset")]
        case .location: [reference("place"), reference("location")]
        case .reference: [["type": "string", "minLength": 1], reference("reference")]
        case .asset: [reference("assetName"), reference("asset")]
        case .json: [reference("plain")]
        case .list(let element):
            [
                [
                    "type": "array",
                    "items": [
                        "anyOf": .array(
                            plain(element, isWhole: isWhole).filter {
                                element == .asset || $0 != reference("asset")
                            })
                    ],
                ]
            ]
        }
    }

    // MARK: Members of a model

    /// Returns the forms of an attribute, or of the key of a relationship.
    static func mapped(_ member: MemberMapping.Member) -> [JSONValue] {
        switch member.form {
        case .decimal: [["type": "string", "pattern": JSONValue(decimal)]] + field(member)
        case .key: [["type": "string"]]
        default: field(member)
        }
    }

    /// Returns the forms of the same value under the name of its field.
    static func field(_ member: MemberMapping.Member) -> [JSONValue] {
        let rule = member.rule ?? MemberRule()
        switch (member.form, member.type) {
        case (.boolean, _): return [["type": "boolean"], ["enum": [0, 1]]]
        case (.uuid, _):
            return [["type": "string", "pattern": JSONValue(uuid)], reference("asset")]
        case (_, .int64): return integer(rule)
        case (_, .double): return [bounded("number", rule)]
        case (_, .string): return [text(rule), reference("asset")]
        case (_, let type): return plain(type)
        }
    }

    private static func text(_ rule: MemberRule) -> JSONValue {
        var members = [JSONMember(key: "type", value: "string")]
        if let least = rule.minimumLength { members.append(.init("minLength", Double(least))) }
        if let most = rule.maximumLength { members.append(.init("maxLength", Double(most))) }
        if let pattern = rule.pattern {
            members.append(
                JSONMember(key: "pattern", value: JSONValue("^(?:\(pattern.source))$")))
        }
        return .object(members)
    }

    /// Returns the forms of whole numbers. `true` is 1 and `false` is 0, where these are in the range.
    private static func integer(_ rule: MemberRule) -> [JSONValue] {
        let least = rule.minimum ?? -.infinity
        let most = rule.maximum ?? .infinity
        let truths: [JSONValue] = [(true, 1.0), (false, 0.0)].filter {
            least <= $0.1 && $0.1 <= most
        }.map { ["const": .bool($0.0)] }
        let number = JSONValue.object([
            JSONMember(key: "type", value: "integer"),
            rule.minimum.map { .init("minimum", $0) }
                ?? JSONMember(key: "minimum", value: JSONValue(Int64.min)),
            rule.maximum.map { .init("maximum", $0) }
                ?? JSONMember(key: "maximum", value: JSONValue(Int64.max)),
        ])
        return [number] + truths
    }

    private static func bounded(_ type: JSONValue, _ rule: MemberRule) -> JSONValue {
        .object(
            [JSONMember(key: "type", value: type)]
                + [
                    rule.minimum.map { .init("minimum", $0) },
                    rule.maximum.map { .init("maximum", $0) },
                ].compactMap(\.self))
    }

    // MARK: Definitions

    private static let decimal = "^-?[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]{1,3})?$"
    private static let uuid =
        "^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$"
    private static let dateOfTime =
        "^([0-9]{4}|[+-][0-9]{6,9})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
        + "T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\\.[0-9]{1,9})?)?"
        + "(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$"
    private static let base64 =
        "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$"

    /// The tags of values, by their definitions.
    private static let tags = ["timestamp", "bytes", "location", "reference", "asset"]

    /// The parts to which the forms refer.
    static let definitions: JSONValue = [
        "none": [
            "description": "No value.",
            "anyOf": [["type": "null"], ["type": "array", "maxItems": 0]],
        ],
        "date": [
            "description": "A time with its zone, such as 2026-11-20T10:00:00.000Z.",
            "type": "string", "pattern": JSONValue(dateOfTime),
        ],
        "base64": [
            "description": "Bytes in base 64.", "type": "string", "contentEncoding": "base64",
            "pattern": JSONValue(base64),
        ],
        "assetName": [
            "description": "The name of a file beside the record, NAME@FIELD.EXT.",
            "type": "string", "maxLength": 255,
            "pattern": "^[^/@.#][^/@]*@[A-Za-z][A-Za-z0-9_]*(\\.[^/]*)?$",
        ],
        "timestamp": tag("$timestamp", reference("date")),
        "bytes": tag("$bytes", reference("base64")),
        "location": tag("$location", reference("place")),
        "reference": tag(
            "$ref", ["type": "string", "minLength": 1],
            [
                "zone": ["type": ["string", "null"], "minLength": 1],
                "action": ["enum": ["NONE", "DELETE_SELF", "VALIDATE", nil]],
            ]),
        "asset": tag(
            "$asset", reference("assetName"),
            [
                "size": ["type": ["integer", "null"], "minimum": 0],
                "sha256": ["type": ["string", "null"], "pattern": "^[0-9A-Fa-f]{64}$"],
            ]),
        "place": place,
        "plain": [
            "description": "Any JSON without keys that begin with $.",
            "items": reference("plain"), "propertyNames": ["not": ["pattern": "^\\$"]],
            "additionalProperties": reference("plain"),
        ],
        "any": [
            "description": "A value of a field that is not known yet.",
            "anyOf": .array(
                [reference("plain")] + tags.map(reference)
                    + tags.map { ["type": "array", "items": reference($0)] }),
        ],
    ]

    private static func tag(
        _ key: Text, _ value: JSONValue, _ others: KeyValuePairs<Text, JSONValue> = [:]
    ) -> JSONValue {
        let members =
            [JSONMember(key: key, value: value)]
            + others.map { JSONMember(key: $0.key, value: $0.value) }
        return [
            "type": "object", "properties": .object(members), "required": [.string(key)],
            "additionalProperties": false,
        ]
    }

    private static let place: JSONValue = {
        let figures = ["altitude", "horizontalAccuracy", "verticalAccuracy", "course", "speed"]
        let members: [JSONMember] =
            [
                JSONMember(
                    key: "latitude", value: ["type": "number", "minimum": -90, "maximum": 90]),
                JSONMember(
                    key: "longitude", value: ["type": "number", "minimum": -180, "maximum": 180]),
            ] + figures.map { JSONMember(key: Text($0), value: ["type": ["number", "null"]]) }
            + [JSONMember(key: "timestamp", value: ["anyOf": [reference("date"), nothing]])]
        return [
            "description": "A place.", "type": "object", "properties": .object(members),
            "required": ["latitude", "longitude"], "additionalProperties": false,
        ]
    }()

    private static let nothing: JSONValue = ["type": "null"]
}

extension JSONMember {
    fileprivate init(_ key: Text, _ bound: Double) {
        let whole = Int64(exactly: bound).map { JSONValue($0) }
        self.init(key: key, value: whole ?? JSONNumber(bound).map { .number($0) } ?? .null)
    }
}
