import RecordModel
import RecordWire
import Testing

/// Every body with every key, changed in one place at a time.
@Suite("Requests changed in one place") struct RequestMutationTests {
    @Test("a body with all keys is read", arguments: RequestSample.all)
    func accepted(_ sample: RequestSample) throws {
        _ = try sample.read(try body(sample.text))
    }

    @Test(
        "a value of another JSON type is BAD_REQUEST with the path to it",
        arguments: RequestSample.all)
    func wrongTypes(_ sample: RequestSample) throws {
        let value = try body(sample.text).value
        let others: [JSONValue] = [
            true, -3, .number(try #require(JSONNumber(2.5))), "\u{1}", ["x"], [[]], ["k": "v"],
        ]
        for place in JSONPlace.all(in: value) {
            for other in others where !JSONPlace.isSameKind(other, place.get(value)) {
                if place.accepts(other) { continue }
                let changed = place.set(other, in: value)
                let error = refusal { try sample.read(JSONReader(changed)) }
                #expect(
                    error?.code == .badRequest || error?.code == .limitExceeded,
                    "\(place) as \(other.kind): \(String(describing: error))")
                #expect(
                    error.map { place.isNamed(in: $0.reason) } == true,
                    "\(place): \(error?.reason ?? "")")
            }
        }
    }

    @Test("null is the same as absent", arguments: RequestSample.all)
    func nulls(_ sample: RequestSample) throws {
        let value = try body(sample.text).value
        for place in JSONPlace.all(in: value) where place.isMember {
            // Null for the parent takes it away, and for a field's dictionary it is unclear.
            if place.isParent || place.isField { continue }
            let absent = Result { try sample.read(JSONReader(place.removed(from: value))) }
            let null = Result { try sample.read(JSONReader(place.set(.null, in: value))) }
            switch (absent, null) {
            case (.success(let absent), .success(let null)):
                let isSame = absent == null
                #expect(isSame, "\(place)")
            case (.failure, .failure): break
            default: Issue.record("\(place) as null is not as absent")
            }
        }
    }

    @Test("unknown keys are read over", arguments: RequestSample.all)
    func unknownKeys(_ sample: RequestSample) throws {
        let value = try body(sample.text).value
        let expected = try sample.read(JSONReader(value))
        for place in JSONPlace.all(in: value) {
            guard case .object(let members) = place.get(value), !place.isFields else { continue }
            let more = members + [JSONMember(key: "ckjsExtra", value: ["deep": [1, "x"]])]
            let changed = place.set(.object(more), in: value)
            if place.keepsUnknownKeys { continue }
            #expect(try sample.read(JSONReader(changed)) == expected, "\(place)")
        }
    }

    @Test("a key that is there twice is refused", arguments: RequestSample.all)
    func duplicateKeys(_ sample: RequestSample) throws {
        let value = try body(sample.text).value
        for place in JSONPlace.all(in: value) {
            guard case .object(let members) = place.get(value), let first = members.first else {
                continue
            }
            let twice = place.set(.object(members + [first]), in: value).serialized()
            let error = #expect(throws: RecordError.self) { try JSONParser.parse(twice) }
            #expect(error?.code == .invalidJSON)
        }
    }
}

/// A place in a JSON value.
struct JSONPlace: CustomStringConvertible {
    enum Step: Hashable {
        case member(String)
        case element(Int)
    }
    let steps: [Step]

    var description: String {
        steps.reduce(into: "") { path, step in
            switch step {
            case .member(let key): path += path.isEmpty ? key : ".\(key)"
            case .element(let index): path += "[\(index)]"
            }
        }
    }

    static func all(in value: JSONValue, _ steps: [Step] = []) -> [JSONPlace] {
        var places = [JSONPlace(steps: steps)]
        switch value {
        case .object(let members):
            for member in members {
                places += all(in: member.value, steps + [.member(member.key.string)])
            }
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                places += all(in: element, steps + [.element(index)])
            }
        default: break
        }
        return places
    }

    func get(_ value: JSONValue) -> JSONValue {
        steps.reduce(value) { value, step in
            switch step {
            case .member(let key): value[key] ?? .null
            case .element(let index): value.array?[index] ?? .null
            }
        }
    }

    func set(_ new: JSONValue, in value: JSONValue) -> JSONValue {
        replaced(steps[...], new, value)
    }
    func removed(from value: JSONValue) -> JSONValue { replaced(steps[...], nil, value) }

    private func replaced(
        _ steps: ArraySlice<Step>, _ new: JSONValue?, _ value: JSONValue
    ) -> JSONValue {
        guard let step = steps.first else { return new ?? .null }
        let rest = steps.dropFirst()
        switch (step, value) {
        case (.member(let key), .object(let members)):
            return .object(
                members.compactMap { member in
                    guard member.key == Text(key) else { return member }
                    if rest.isEmpty, new == nil { return nil }
                    return JSONMember(key: member.key, value: replaced(rest, new, member.value))
                })
        case (.element(let index), .array(var elements)):
            elements[index] = replaced(rest, new, elements[index])
            return .array(elements)
        default: return value
        }
    }

    // MARK: What is special about some places

    private var keys: [String] {
        steps.compactMap { if case .member(let key) = $0 { key } else { nil } }
    }
    private var last: String? {
        if case .member(let key) = steps.last { key } else { nil }
    }

    var isMember: Bool { last != nil }
    var isParent: Bool { last == "parent" || keys.dropLast().last == "parent" }
    var isFields: Bool { last == "fields" }
    var isField: Bool { keys.count >= 2 && last != nil && keys[keys.count - 2] == "fields" }
    /// What is kept as it came.
    var keepsUnknownKeys: Bool { last == "notificationInfo" }

    static func isSameKind(_ left: JSONValue, _ right: JSONValue) -> Bool {
        switch (left, right) {
        case (.string, .string), (.bool, .bool), (.object, .object): true
        case (.array(let left), .array(let right)):
            // A list in a list is another kind than a list.
            (left.first?.array == nil) == (right.first?.array == nil)
        case (.number(let left), .number(let right)):
            (left.int64 == nil) == (right.int64 == nil)
        default: false
        }
    }

    /// Other JSON types that the place takes, too.
    func accepts(_ value: JSONValue) -> Bool {
        guard let last else { return false }
        switch value {
        // Whatever is a number.
        case .number(let number):
            let takesFractions = [
                "distance", "latitude", "longitude", "altitude", "speed", "course",
                "horizontalAccuracy", "verticalAccuracy", "timestamp",
            ]
            if takesFractions.contains(last) { return true }
            if description.hasSuffix("fields.d.value") { return true }
            if description.hasSuffix("fields.t.value") { return true }
            return number.int64 != nil && description.hasSuffix("fields.i.value")
        case .bool: return description.hasSuffix("fields.i.value") || last == "size"
        default: return false
        }
    }

    /// Whether the reason leads to this place, or to the value that holds it.
    func isNamed(in reason: String) -> Bool {
        if steps.isEmpty { return reason.hasPrefix("the body") }
        var place = self
        while !place.steps.isEmpty {
            if reason.contains(place.description) { return true }
            place = JSONPlace(steps: place.steps.dropLast())
            if place.steps.count + 3 < steps.count { return false }
        }
        return reason.hasPrefix("the body")
    }
}
