import RecordModel

/// Gathers an `ImportPlan` from the rows of a source.
struct ImportSurvey {
    private let schema: RecordSchema
    private let isTable: Bool
    private var keys: [Text] = []
    private var evidence: [TypeEvidence] = []
    private var places: [Text: Int] = [:]
    private var names: NameSurvey
    private var rowCount = 0
    private var shortRowCount = 0

    /// - Parameter keys: the header of a table; nil for other sources.
    init(keys: [Text]?, schema: RecordSchema, nameField: String?) {
        self.schema = schema
        isTable = keys != nil
        names = NameSurvey(field: nameField)
        for key in keys ?? [] { _ = place(of: key) }
    }

    private mutating func place(of key: Text) -> Int {
        if let place = places[key] { return place }
        places[key] = keys.count
        keys.append(key)
        evidence.append(TypeEvidence())
        return keys.count - 1
    }

    mutating func add(_ row: ImportRow) {
        rowCount += 1
        if row.isShort { shortRowCount += 1 }
        switch row.content {
        case .fields(let members): add(members, row)
        case .text(let text):
            do {
                add(try JSONParser.parse(text).object ?? [], row)
            } catch {
                // The row is refused when its turn comes.
            }
        case .bad: break
        }
    }

    private mutating func add(_ members: [JSONMember], _ row: ImportRow) {
        for (index, member) in members.enumerated() {
            // Rows of one source have their members in one order, mostly.
            let place =
                index < keys.count && keys[index] == member.key
                ? index : place(of: member.key)
            evidence[place].add(member.value)
        }
        names.add(members, row, number: rowCount)
    }

    func plan() -> ImportPlan {
        var plan = ImportPlan()
        plan.rowCount = rowCount
        plan.shortRowCount = shortRowCount
        plan.naming = FieldNaming(keys)
        plan.names = names.plan(plan.naming)
        if isTable { plan.columns = [] }
        for (key, evidence) in zip(keys, evidence) {
            let name = FieldName(bytes: plan.naming.name(of: key).utf8)
            let known = schema.type(of: name)
            let column = CSVRows.column(evidence, as: known)
            if isTable { plan.columns?.append(column) }
            guard name.isValid else { continue }
            var type = evidence.type
            if isTable, column == .text, type != nil { type = .string }
            if known == nil, !isTable, evidence.isMixed { plan.mixedFields.append(name) }
            plan.fields.append(
                .init(name: name, type: known ?? type, isKnown: known != nil))
        }
        return plan
    }
}

/// Looks for a field whose values name all rows.
private struct NameSurvey {
    fileprivate struct Candidate {
        let key: [UInt8]
        /// By hash: a wrong guess would only choose another name field.
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
