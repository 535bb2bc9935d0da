/// A member of a record's text that differs between two versions.
package struct MemberDifference: Hashable, Sendable {
    package let name: Text
    /// The values. Nil where the text has no such member.
    package let old: JSONValue?
    package let new: JSONValue?

    /// Returns the members that differ: in the order of the new text, then those that only the old
    /// one has. A text that is no object has no members. The order of the members and the form in
    /// which values are written make no difference.
    ///
    /// - Parameter old: nil for a record that did not exist. The same of `new`.
    package static func between(_ old: [UInt8]?, _ new: [UInt8]?) -> [MemberDifference] {
        let (left, right) = (members(of: old), members(of: new))
        let former = Dictionary(left.map { ($0.key, $0.value) }, uniquingKeysWith: { $1 })
        let later = Set(right.map(\.key))
        let changed = right.filter {
            former[$0.key]?.withSortedMembers != $0.value.withSortedMembers
        }
        return changed.map { MemberDifference(name: $0.key, old: former[$0.key], new: $0.value) }
            + left.filter { !later.contains($0.key) }.map {
                MemberDifference(name: $0.key, old: $0.value, new: nil)
            }
    }

    private static func members(of text: [UInt8]?) -> [JSONMember] {
        guard let text else { return [] }
        do throws(RecordError) {
            guard case .object(let members) = try JSONParser.parse(text) else { return [] }
            return members
        } catch {
            return []
        }
    }

    /// The operation of JSON Patch (RFC 6902) that makes the new value of the old one.
    package var patch: JSONValue {
        let path = JSONMember(key: "path", value: .string(Text("/" + Self.pointer(name))))
        func operation(_ name: String) -> JSONMember {
            JSONMember(key: "op", value: .string(Text(name)))
        }
        guard let new else { return .object([operation("remove"), path]) }
        return .object([
            operation(old == nil ? "add" : "replace"), path, JSONMember(key: "value", value: new),
        ])
    }

    /// Returns a name as a part of a JSON pointer (RFC 6901).
    private static func pointer(_ name: Text) -> String {
        name.description.replacing("~", with: "~0").replacing("/", with: "~1")
    }
}
