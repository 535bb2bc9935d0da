/// The values that an attribute of a model can have.
package struct MemberRule: Hashable, Sendable {
    /// The least and the greatest number; of a date, seconds since 1970.
    package var minimum: Double?
    package var maximum: Double?
    /// The least and the greatest number of characters, as UTF-16 counts them: as Core Data does.
    package var minimumLength: Int?
    package var maximumLength: Int?
    /// The pattern that a text matches as a whole.
    package var pattern: TextPattern?

    package init(
        minimum: Double? = nil, maximum: Double? = nil, minimumLength: Int? = nil,
        maximumLength: Int? = nil, pattern: TextPattern? = nil
    ) {
        self.minimum = minimum
        self.maximum = maximum
        self.minimumLength = minimumLength
        self.maximumLength = maximumLength
        self.pattern = pattern
    }
}

extension RecordDocument {
    /// Checks the members of a text that is to be saved against the rules of the model.
    ///
    /// - Parameter old: the record as it was. A value that it had already, or lacked, is not checked:
    ///   the server may have sent it.
    ///
    /// Errors: `schemaMismatch` with the place of the first member that breaks a rule, and the names
    /// of the others.
    package func checkRules(replacing old: RecordDocument?) throws(RecordError) {
        let problems = rulesBroken(since: old)
        guard let mapping, let first = problems.first else { return }
        let others = problems.dropFirst().map { "\"\(mapping.name(of: $0.name))\"" }
        throw RecordError(
            .schemaMismatch,
            first.problem
                + (others.isEmpty ? "" : "; \(others.joined(separator: ", ")) too break a rule"),
            at: members.first { $0.name == first.name }.map {
                TextPosition(offset: $0.value.lowerBound, in: text)
            } ?? TextPosition(offset: root.lowerBound, in: text))
    }

    /// The rules of the model that the record breaks, whoever has written it, one sentence each.
    package var brokenRules: [String] { rulesBroken(since: nil).map(\.problem) }

    private func rulesBroken(
        since old: RecordDocument?
    ) -> [(name: FieldName, problem: String)] {
        guard let mapping else { return [] }
        var problems: [(name: FieldName, problem: String)] = []
        for field in fields {
            guard let member = mapping.member(of: field.name),
                !FieldMerge.isSame(old?[field.name], field.value),
                let problem = member.problem(of: field.value)
            else { continue }
            problems.append((field.name, "\"\(member.name)\" \(problem)"))
        }
        for member in mapping.members where member.isRequired && lacks(member.field) {
            guard old?.lacks(member.field) != true else { continue }
            let example = member.usableInitial.map {
                ", such as " + String(decoding: $0.serialized(), as: UTF8.self)
            }
            problems.append(
                (
                    member.field,
                    "\"\(member.name)\" must have a value\(example ?? ""): the model requires it"
                ))
        }
        return problems
    }

    /// Returns whether a field has no value. An empty list is none for a field of one value.
    private func lacks(_ field: FieldName) -> Bool {
        switch self[field] {
        case nil, .list([]): true
        default: false
        }
    }
}

extension MemberMapping.Member {
    /// The value of new objects. Nil where the model gives one that the attribute cannot have.
    var usableInitial: JSONValue? { initial.flatMap { takes($0) ? $0 : nil } }

    private func takes(_ json: JSONValue) -> Bool {
        do throws(ValueError) {
            let reading = try ValueReader(field: name).read(try plainForm(of: json), as: type)
            return reading.flatMap { problem(of: $0.value) } == nil
        } catch {
            return false
        }
    }

    /// Returns what is wrong with a value. Nil for one that the attribute can have.
    fileprivate func problem(of value: FieldValue) -> String? {
        switch (form, value) {
        case (.boolean, .int64(let number)) where number != 0 && number != 1:
            return "takes true or false, and this is \(number)"
        case (.uuid, .string(let text)) where UUIDText.uppercased(text) == nil:
            return "takes a UUID such as \"7B0C6D2E-4C0A-4B6E-9A55-0D3C1E2F4A5B\", and this is none"
        default: break
        }
        guard let rule else { return nil }
        switch value {
        case .int64(let number): return rule.problem(of: Double(number), "\(number)")
        case .double(let number): return rule.problem(of: number, "\(number)")
        case .timestamp(let milliseconds):
            return rule.problem(
                of: Double(milliseconds) / 1000,
                shown: {
                    ISO8601.print(milliseconds: Int64(($0 * 1000).rounded()))
                })
        case .string(let text): return rule.problem(of: text)
        default: return nil
        }
    }
}

extension MemberRule {
    fileprivate func problem(of number: Double, _ shown: String) -> String? {
        problem(of: number, shown: ExactDecimal.spelling(of:)).map { "\($0), and this is \(shown)" }
    }

    fileprivate func problem(of number: Double, shown: (Double) -> String) -> String? {
        if let minimum, number < minimum { return "is at least \(shown(minimum))" }
        if let maximum, number > maximum { return "is at most \(shown(maximum))" }
        return nil
    }

    fileprivate func problem(of text: Text) -> String? {
        let string = text.description
        let count = string.utf16.count
        if let minimumLength, count < minimumLength {
            return "has at least \(minimumLength) characters, and this has \(count)"
        }
        if let maximumLength, count > maximumLength {
            return "has at most \(maximumLength) characters, and this has \(count)"
        }
        if let pattern, !pattern.matches(string) {
            return "matches the pattern \(pattern.source), and this does not"
        }
        return nil
    }
}
