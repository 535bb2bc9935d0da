import RecordModel

/// The members of a JSON object, read as values. Its errors name the path of the member.
struct ObjectMembers {
    private let members: [JSONMember]
    private let path: String

    init(_ value: JSONValue, _ path: String) throws(RecordError) {
        guard let members = value.object else {
            throw RecordError(.invalidArgument, "\(path) is \(value.kind). Write an object.")
        }
        self.members = members
        self.path = path
    }

    private subscript(name: String) -> JSONValue? { JSONValue.object(members)[name] }

    func error(_ name: String, _ message: String) -> RecordError {
        RecordError(.invalidArgument, "\(path).\(name): \(message)")
    }

    /// Checks that there are no other members: a misspelled one would otherwise do nothing.
    func finish(_ known: Set<String>) throws(RecordError) {
        for member in members where !known.contains(member.key.description) {
            throw error(
                member.key.description,
                "there is no such member. The members are "
                    + known.sorted().joined(separator: ", ") + ".")
        }
    }

    func text(_ name: String) throws(RecordError) -> String? {
        guard let value = self[name], !value.isNull else { return nil }
        guard let text = value.string else { throw wrong(name, value, "a string") }
        return text.description
    }

    func required(_ name: String) throws(RecordError) -> String {
        guard let text = try text(name) else { throw error(name, "this member is missing.") }
        return text
    }

    func flag(_ name: String) throws(RecordError) -> Bool {
        guard let value = self[name], !value.isNull else { return false }
        guard let flag = value.bool else { throw wrong(name, value, "true or false") }
        return flag
    }

    func count(_ name: String) throws(RecordError) -> Int? {
        guard let value = self[name], !value.isNull else { return nil }
        guard let count = value.int64, count >= 0 else { throw wrong(name, value, "a count") }
        return Int(count)
    }

    /// Reads a value as a model spells it: numbers as they are written, YES and NO for truth.
    func scalar(_ name: String) throws(RecordError) -> String? {
        switch self[name] {
        case nil, .null: return nil
        case .bool(let flag): return flag ? "YES" : "NO"
        case .number(let number):
            return String(decoding: JSONValue.number(number).serialized(), as: UTF8.self)
        case .string(let text): return text.description
        case let value?: throw wrong(name, value, "a string, a number, true or false")
        }
    }

    func texts(_ name: String) throws(RecordError) -> [String] {
        var texts: [String] = []
        for value in try array(name) {
            guard let text = value.string else { throw wrong(name, value, "strings") }
            texts.append(text.description)
        }
        return texts
    }

    func constraints(_ name: String) throws(RecordError) -> [[String]] {
        var constraints: [[String]] = []
        for value in try array(name) {
            let list = try ObjectMembers(.object([JSONMember(key: Text(name), value: value)]), path)
            constraints.append(try list.texts(name))
        }
        return constraints
    }

    /// Reads an object whose members have names of their own.
    func named<Value>(
        _ name: String, _ read: (String, ObjectMembers) throws(RecordError) -> Value
    ) throws(RecordError) -> [Value] {
        var values: [Value] = []
        for member in try object(name) {
            let key = member.key.description
            values.append(try read(key, try ObjectMembers(member.value, "\(path).\(name).\(key)")))
        }
        return values
    }

    /// Reads an object whose members are lists of objects.
    func lists<Value>(
        _ name: String, _ read: (String, [ObjectMembers]) throws(RecordError) -> Value
    ) throws(RecordError) -> [Value] {
        var values: [Value] = []
        for member in try object(name) {
            let key = member.key.description
            guard let parts = member.value.array else {
                throw wrong("\(name).\(key)", member.value, "an array")
            }
            var objects: [ObjectMembers] = []
            for part in parts { objects.append(try ObjectMembers(part, "\(path).\(name).\(key)")) }
            values.append(try read(key, objects))
        }
        return values
    }

    func userInfo() throws(RecordError) -> [UserInfo] {
        var entries: [UserInfo] = []
        for (key, value) in try strings("userInfo") {
            entries.append(UserInfo(key: key, value: value))
        }
        return entries
    }

    func xcode() throws(RecordError) -> XcodeDetails {
        guard let value = self["xcode"] else { return XcodeDetails() }
        let members = try ObjectMembers(value, "\(path).xcode")
        try members.finish(["attributes", "elements"])
        return XcodeDetails(
            attributes: Dictionary(try members.strings("attributes"), uniquingKeysWith: { $1 }),
            elements: try members.elements("elements", depth: 0))
    }

    // MARK: Parts

    private func wrong(_ name: String, _ value: JSONValue, _ wanted: String) -> RecordError {
        error(name, "this is \(value.kind). Write \(wanted).")
    }

    private func array(_ name: String) throws(RecordError) -> [JSONValue] {
        guard let value = self[name], !value.isNull else { return [] }
        guard let array = value.array else { throw wrong(name, value, "an array") }
        return array
    }

    private func object(_ name: String) throws(RecordError) -> [JSONMember] {
        guard let value = self[name], !value.isNull else { return [] }
        guard let members = value.object else { throw wrong(name, value, "an object") }
        return members
    }

    private func strings(_ name: String) throws(RecordError) -> [(String, String)] {
        var strings: [(String, String)] = []
        for member in try object(name) {
            guard let text = member.value.string else {
                throw wrong("\(name).\(member.key)", member.value, "a string")
            }
            strings.append((member.key.description, text.description))
        }
        return strings
    }

    private func elements(_ name: String, depth: Int) throws(RecordError) -> [XMLElement] {
        guard depth < XMLReader.depthMax else {
            throw error(name, "the elements are more than \(XMLReader.depthMax) deep.")
        }
        var elements: [XMLElement] = []
        for value in try array(name) {
            let members = try ObjectMembers(value, "\(path).\(name)")
            try members.finish(["element", "attributes", "children", "text"])
            elements.append(
                XMLElement(
                    try members.required("element"),
                    try members.strings("attributes").map { XMLAttribute($0.0, $0.1) },
                    children: try members.elements("children", depth: depth + 1),
                    text: try members.text("text") ?? ""))
        }
        return elements
    }
}
