package import RecordModel

/// A value of a request and the path to it: typed access, with errors that name the place.
///
/// A member that is null counts as absent, because clients print their empty optionals in this way.
/// Unknown members are ignored. Every error is `badRequest`, except that an array with too many
/// elements is `limitExceeded`.
package struct JSONReader: Sendable {
    package let value: JSONValue
    package let path: JSONPath

    package init(_ value: JSONValue, at path: JSONPath = .root) {
        self.value = value
        self.path = path
    }

    /// Returns an error about this value. `problem` is a predicate, such as "takes a string".
    package func error(_ problem: String) -> ServerError {
        ServerError(.badRequest, "\(path) \(problem)")
    }

    private func mismatch(_ expected: String) -> ServerError {
        error("takes \(expected), and this is \(value.kind).")
    }

    // MARK: This value

    package func object() throws(ServerError) -> [JSONMember] {
        guard case .object(let members) = value else { throw mismatch("an object") }
        return members
    }

    /// Returns the elements. More than `maximum` elements are refused before any is read.
    package func array(maximum: Int? = nil) throws(ServerError) -> JSONElements {
        guard case .array(let elements) = value else { throw mismatch("an array") }
        if let maximum, elements.count > maximum {
            throw ServerError(
                .limitExceeded,
                "\(path) has \(elements.count) elements, and the limit is \(maximum) in one request."
            )
        }
        return JSONElements(elements: elements, path: path)
    }

    package func string() throws(ServerError) -> Text {
        guard case .string(let text) = value else { throw mismatch("a string") }
        return text
    }

    /// Returns a string of 1 to `maximumBytes` bytes.
    package func string(maximumBytes: Int) throws(ServerError) -> Text {
        let text = try string()
        guard !text.isEmpty else { throw error("is empty.") }
        guard text.utf8.count <= maximumBytes else {
            throw error("is longer than \(maximumBytes) bytes.")
        }
        return text
    }

    package func bool() throws(ServerError) -> Bool {
        guard case .bool(let bool) = value else { throw mismatch("true or false") }
        return bool
    }

    package func int64() throws(ServerError) -> Int64 {
        guard let int64 = value.int64 else { throw mismatch("a whole number of 64 bits") }
        return int64
    }

    package func double() throws(ServerError) -> Double {
        guard let double = value.double, double.isFinite else { throw mismatch("a number") }
        return double
    }

    /// Returns one of the values of an enumeration.
    package func choice<Choice: RawRepresentable & CaseIterable>(
        of type: Choice.Type = Choice.self
    ) throws(ServerError) -> Choice where Choice.RawValue == String {
        let text = try string()
        guard let choice = Choice(rawValue: text.string) else {
            let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw error("takes one of \(known).")
        }
        return choice
    }

    // MARK: Members

    /// The value of a member. It is nil when the member is absent or null, and when this is no
    /// object.
    package subscript(key: String) -> JSONReader? {
        guard let member = value[key], !member.isNull else { return nil }
        return JSONReader(member, at: .member(key, of: path))
    }

    /// Returns one member with two spellings. Two different values are refused: the result must not
    /// depend on the reader.
    package func either(_ key: String, _ other: String) throws(ServerError) -> JSONReader? {
        guard let first = self[key] else { return self[other] }
        if let second = self[other], second.value != first.value {
            throw error("has both \(key) and \(other), and they differ; send one.")
        }
        return first
    }

    package func required(_ key: String) throws(ServerError) -> JSONReader {
        guard let member = self[key] else {
            _ = try object()
            throw error("lacks \(key).")
        }
        return member
    }

    package func string(_ key: String) throws(ServerError) -> Text? {
        try self[key]?.string()
    }

    package func string(_ key: String, maximumBytes: Int) throws(ServerError) -> Text? {
        try self[key]?.string(maximumBytes: maximumBytes)
    }

    package func bool(_ key: String, default absent: Bool) throws(ServerError) -> Bool {
        try self[key]?.bool() ?? absent
    }

    package func choice<Choice: RawRepresentable & CaseIterable>(
        _ key: String, of type: Choice.Type = Choice.self
    ) throws(ServerError) -> Choice? where Choice.RawValue == String {
        try self[key]?.choice(of: type)
    }

    /// Returns the elements of a required member.
    package func elements(_ key: String, maximum: Int) throws(ServerError) -> JSONElements {
        try required(key).array(maximum: maximum)
    }
}

/// The elements of an array. Each gets its path when it is read, because lists can be long.
package struct JSONElements: RandomAccessCollection, Sendable {
    fileprivate let elements: [JSONValue]
    fileprivate let path: JSONPath

    package var startIndex: Int { 0 }
    package var endIndex: Int { elements.count }
    package subscript(index: Int) -> JSONReader {
        JSONReader(elements[index], at: .element(index, of: path))
    }
}
