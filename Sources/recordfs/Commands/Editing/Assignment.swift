import ArgumentParser
import RecordControl
import RecordModel

/// A member and its value on the command line: `title=Soup` is a text, `servings:=4` is JSON.
struct Assignment: ExpressibleByArgument, Sendable {
    /// The keys, from the member of the record to the one inside nested JSON.
    private let keys: [Text]
    private let value: JSONValue
    /// Indicates whether the value was written as JSON.
    let isJSON: Bool

    /// Reads an argument. Returns nil for one without `=` behind a name, and for bad JSON.
    init?(argument: String) {
        guard Self.isAssignment(argument), let sign = argument.firstIndex(of: "=") else {
            return nil
        }
        let name = argument[..<sign]
        let text = argument[argument.index(after: sign)...]
        isJSON = name.hasSuffix(":")
        keys = (isJSON ? name.dropLast() : name).split(separator: ".").map { Text($0) }
        if isJSON {
            guard let json = Self.json(text) else { return nil }
            value = json
        } else {
            value = .text(text)
        }
    }

    /// Returns whether the argument begins with a name, perhaps `:`, and `=`. Everything else is a
    /// path: one that looks like this can be written as `./NAME=VALUE`.
    static func isAssignment(_ argument: String) -> Bool {
        guard let sign = argument.utf8.firstIndex(of: UInt8(ascii: "=")) else { return false }
        var name = argument.utf8[..<sign]
        if name.last == UInt8(ascii: ":") { name = name.dropLast() }
        let parts = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard let first = parts.first.map({ FieldName(bytes: Array($0)) }) else { return false }
        return (first.isValid || first == .parent)
            && parts.allSatisfy { !$0.isEmpty && !$0.contains(UInt8(ascii: "/")) }
    }

    private static func json(_ text: Substring) -> JSONValue? {
        do throws(RecordError) {
            return try JSONParser.parse(Array(text.utf8))
        } catch {
            return nil
        }
    }

    /// Returns the object of a JSON merge patch that has these members.
    ///
    /// - Throws: a member that is there twice.
    static func patch(of assignments: [Assignment]) throws(ValidationError) -> JSONValue {
        var patch = JSONValue.object([])
        for assignment in assignments {
            patch = try assignment.added(to: patch, assignment.keys[...])
        }
        return patch
    }

    private func added(
        to object: JSONValue, _ keys: ArraySlice<Text>
    ) throws(ValidationError) -> JSONValue {
        guard let key = keys.first else { return value }
        var members = object.object ?? []
        let place = members.firstIndex { $0.key == key }
        let isLast = keys.count == 1
        if let place, isLast || members[place].value.object == nil {
            throw ValidationError("\"\(key.string)\" is there twice.")
        }
        let inner = place.map { members[$0].value } ?? .object([])
        let member = JSONMember(key: key, value: try added(to: inner, keys.dropFirst()))
        if let place { members[place] = member } else { members.append(member) }
        return .object(members)
    }
}
