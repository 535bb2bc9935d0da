import RecordModel

/// Gathers an `ImportPlan` from the rows of a source.
struct ImportSurvey {
    private let schema: RecordSchema
    private let table: CSVRows?
    private let hasDecimalCommas: Bool
    private var keys: [Text] = []
    private var evidence: [TypeEvidence] = []
    private var columns: [CSVColumn] = []
    private var types: [Text: FieldType] = [:]
    private var endLine: Int?
    private var places: [Text: Int] = [:]
    private var names: NameSurvey
    private var rowCount = 0
    private var shortRowCount = 0

    /// Creates a survey.
    ///
    /// - Parameter table: nil for other sources.
    init(table: CSVRows?, hasDecimalCommas: Bool, schema: RecordSchema, nameField: String?) {
        self.schema = schema.shown
        self.table = table
        self.hasDecimalCommas = hasDecimalCommas
        types = table?.types ?? [:]
        names = NameSurvey(field: nameField)
        for key in table?.keys ?? [] { _ = place(of: key) }
    }

    private mutating func place(of key: Text) -> Int {
        if let place = places[key] { return place }
        places[key] = keys.count
        keys.append(key)
        evidence.append(TypeEvidence())
        if let table { columns.append(CSVColumn(isExport: table.isExport)) }
        return keys.count - 1
    }

    mutating func add(_ row: ImportRow) {
        rowCount += 1
        if row.isShort { shortRowCount += 1 }
        if row.endsSource { endLine = row.line }
        switch row.content {
        case .fields(let members): add(members, row)
        case .text(let text):
            do {
                add(try JSONParser.parse(text).object ?? [], row)
            } catch {
                // The row is refused later, when it is imported.
            }
        case .bad: break
        }
    }

    private mutating func add(_ members: [JSONMember], _ row: ImportRow) {
        for (index, member) in members.enumerated() {
            if table == nil, TypeHints.isTypes(member) {
                types.merge(TypeHints.parse(member.value)) { first, _ in first }
                continue
            }
            // The rows of one source mostly have their members in the same order.
            let place =
                index < keys.count && keys[index] == member.key
                ? index : place(of: member.key)
            if table == nil {
                evidence[place].add(member.value)
            } else if case .string(let cell) = member.value {
                columns[place].add(cell.utf8)
            }
        }
        names.add(members, row, number: rowCount)
    }

    /// Returns the plan.
    ///
    /// Errors: `invalidArgument` for keys that cannot be fields.
    func plan() throws(RecordError) -> ImportPlan {
        var plan = ImportPlan()
        plan.rowCount = rowCount
        plan.shortRowCount = shortRowCount
        plan.endLine = endLine
        let dataKeys = keys.filter { !$0.utf8.starts(with: TypeHints.prefix) }
        plan.naming = try FieldNaming(dataKeys)
        plan.names = names.plan(plan.naming)
        plan.spokenFields = dataKeys.map(plan.naming.name(of:))
        if table != nil { (plan.columns, plan.header) = ([], dataKeys) }
        for (place, key) in keys.enumerated() {
            let name = FieldName(bytes: plan.naming.name(of: key).utf8)
            let known = schema.type(of: name)
            let told = known ?? types[key]
            if table != nil {
                plan.columns?.append(
                    columns[place].reading(as: told, withDecimalCommas: hasDecimalCommas))
            }
            guard name.isValid else { continue }
            plan.fields.append(field(name, known, told, place))
            if told == nil, table == nil, evidence[place].isMixed { plan.mixedFields.append(name) }
        }
        return plan
    }

    private func field(
        _ name: FieldName, _ known: FieldType?, _ told: FieldType?, _ place: Int
    ) -> ImportPlan.Field {
        guard table != nil else {
            return .init(
                name: name, type: told ?? evidence[place].type, isKnown: known != nil)
        }
        let column = columns[place]
        let found = column.type(withDecimalCommas: hasDecimalCommas)
        var field = ImportPlan.Field(name: name, type: told ?? found, isKnown: known != nil)
        field.hasDecimalComma =
            column.reading(as: told, withDecimalCommas: hasDecimalCommas) == .decimalComma
        field.isFoundTime = told == nil && found == .timestamp
        return field
    }
}

/// Finds a field whose values can name all rows.
private struct NameSurvey {
    fileprivate struct Candidate {
        let key: [UInt8]
        /// The hashes of the values. Equal hashes of different values would only lead to another
        /// name field.
        var names: Set<Int> = []
        var isSeen = false
        var flaw: String?
    }

    private let explicit: String?
    private var candidates: [Candidate]
    private var isUsed = false

    init(field: String?) {
        explicit = field
        candidates =
            field == nil ? RecordNaming.candidates.map { Candidate(key: Array($0.utf8)) } : []
    }

    mutating func add(_ members: [JSONMember], _ row: ImportRow, number: Int) {
        guard row.key == nil, !members.contains(where: RecordNaming.isNameMember) else { return }
        isUsed = true
        for place in candidates.indices where candidates[place].flaw == nil {
            candidates[place].add(members, number)
        }
    }

    func plan(_ naming: FieldNaming) -> NamePlan {
        var plan = NamePlan()
        plan.isUsed = isUsed
        if let explicit {
            plan.isExplicit = true
            plan.rule = .member(naming.key(of: Text(explicit)))
        } else if let fit = candidates.first(where: { $0.isSeen && $0.flaw == nil }) {
            plan.rule = .member(Text(utf8: fit.key))
        } else if let unfit = candidates.first(where: \.isSeen), let flaw = unfit.flaw {
            plan.unsuitable = (Text(utf8: unfit.key), flaw)
        }
        return plan
    }
}

extension NameSurvey.Candidate {
    fileprivate mutating func add(_ members: [JSONMember], _ row: Int) {
        guard let member = members.first(where: { $0.key.utf8 == key }) else {
            return fail("row \(row) has none")
        }
        isSeen = true
        let name: RecordName
        do {
            name = try RecordNaming.name(from: member)
        } catch {
            return fail("that of row \(row) is no text or number")
        }
        if name.bytes.count > 255 { return fail("that of row \(row) is too long") }
        if !names.insert(name.hashValue).inserted { fail("that of row \(row) is an earlier row's") }
    }

    private mutating func fail(_ reason: String) {
        flaw = reason
        names = []
    }
}
