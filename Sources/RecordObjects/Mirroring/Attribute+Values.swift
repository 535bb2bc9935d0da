import RecordModel

extension Attribute {
    /// The seconds from 1970 to 2001, from which the dates of a model count.
    private static let referenceDate = 978_307_200.0

    /// The value of new objects, as a text has it. Nil for none, and for one that the attribute's
    /// type does not have.
    var initialValue: JSONValue? {
        guard let defaultValue else { return nil }
        switch type {
        case .integer16, .integer32, .integer64: return Int64(defaultValue).map { JSONValue($0) }
        case .double, .float:
            return Double(defaultValue).flatMap { JSONNumber($0) }.map { .number($0) }
        case .boolean: return .bool(["YES", "TRUE", "1"].contains(defaultValue.uppercased()))
        case .date:
            return Double(defaultValue).flatMap {
                Int64(exactly: (($0 + Self.referenceDate) * 1000).rounded())
            }.map { JSONValue(ISO8601.print(milliseconds: $0)) }
        case .decimal, .string, .uuid, .uri: return JSONValue(defaultValue)
        case .binary, .transformable, .composite, .undefined, .objectID: return nil
        }
    }

    /// The rule of the attribute's values. Nil for an attribute without one.
    var rule: MemberRule? {
        var rule = MemberRule()
        switch type {
        case .string:
            rule.minimumLength = minimum.flatMap { Int($0) }
            rule.maximumLength = maximum.flatMap { Int($0) }
            rule.pattern = pattern.flatMap { TextPattern($0) }
        case .date:
            rule.minimum = minimum.flatMap { Double($0) }.map { $0 + Self.referenceDate }
            rule.maximum = maximum.flatMap { Double($0) }.map { $0 + Self.referenceDate }
        case .integer16: rule.bound(by: minimum, maximum, Double(Int16.min), Double(Int16.max))
        case .integer32: rule.bound(by: minimum, maximum, Double(Int32.min), Double(Int32.max))
        case .integer64, .decimal, .double, .float: rule.bound(by: minimum, maximum, nil, nil)
        default: break
        }
        return rule == MemberRule() ? nil : rule
    }
}

extension MemberRule {
    fileprivate mutating func bound(
        by minimum: String?, _ maximum: String?, _ least: Double?, _ greatest: Double?
    ) {
        self.minimum = [minimum.flatMap { Double($0) }, least].compactMap(\.self).max()
        self.maximum = [maximum.flatMap { Double($0) }, greatest].compactMap(\.self).min()
    }
}

extension AttributeType {
    /// The form of the attribute's values in a text.
    var form: MemberMapping.Form {
        switch self {
        case .boolean: .boolean
        case .decimal: .decimal
        case .uuid: .uuid
        default: .plain
        }
    }
}
