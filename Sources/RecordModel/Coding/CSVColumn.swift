/// The evidence of all cells of a CSV column for the way to read them.
///
/// The rules are cautious. A text stays text when a number or a date would print it in another
/// form: codes (`007`, `32E0134`, `1.10` beside `1.9`). A text that can be read in two ways stays
/// text too.
package struct CSVColumn: Sendable {
    package enum Reading: Hashable, Sendable {
        case text
        /// Numbers, and nested values in the form that an export writes.
        case json
        /// Numbers with a comma before the fraction: `12,50`, `1.234,56`.
        case decimalComma
    }

    /// Indicates whether an export wrote the table. An export writes nested values as JSON.
    private let isExport: Bool
    private var count = 0
    private var numbers = NumberCells()
    private var commas = CommaCells()
    private var timestamps = 0
    private var tagged = 0
    private var nested = 0
    private var nestedEvidence = TypeEvidence()

    package init(isExport: Bool = false) {
        self.isExport = isExport
    }

    /// Adds the next cell that has a value.
    package mutating func add(_ cell: [UInt8]) {
        count += 1
        numbers.add(cell)
        commas.add(cell)
        if timestamps == count - 1, ISO8601.isWhole(cell) { timestamps += 1 }
        guard let value = Self.nested(cell, anyOfExport: isExport) else { return }
        nested += 1
        nestedEvidence.add(value)
        if case .object(let members) = value, TagReader.isTagged(members) { tagged += 1 }
    }

    /// The type that fits all cells. It is nil when there are no cells.
    package var type: FieldType? {
        guard count > 0 else { return nil }
        if numbers.count == count { return numbers.type }
        if timestamps == count { return .timestamp }
        return isNested ? nestedEvidence.type : .string
    }

    /// Returns the type in a table whose decimals have commas.
    package func type(withDecimalCommas: Bool) -> FieldType? {
        withDecimalCommas && isDecimalComma ? .double : type
    }

    /// Indicates whether all cells are decimals that are certainly written with a comma.
    package var isDecimalComma: Bool { count > 0 && commas.count == count && commas.isCertain }

    private var isNested: Bool {
        nested == count && (isExport || tagged == count)
    }

    /// Returns the way to read the cells of this column for a field of type `type`. Pass nil for a
    /// new field.
    package func reading(as type: FieldType?, withDecimalCommas: Bool) -> Reading {
        switch type {
        case .string, .timestamp, .bytes, .reference, .asset:
            return !isExport && count > 0 && tagged == count ? .json : .text
        case .double where withDecimalCommas && isDecimalComma,
            .int64 where withDecimalCommas && isDecimalComma:
            return .decimalComma
        case .some: return .json
        case nil:
            if withDecimalCommas, isDecimalComma { return .decimalComma }
            return numbers.count == count && numbers.type != .string || isNested ? .json : .text
        }
    }

    /// Returns the value of a cell in a column with the reading `reading`.
    ///
    /// Errors: `invalidJSON` for a cell that is no JSON.
    package static func value(
        _ cell: [UInt8], _ reading: Reading, isExport: Bool
    ) throws(RecordError) -> JSONValue {
        switch reading {
        case .text: return (isExport ? taggedValue(cell) : nil) ?? .string(Text(utf8: cell))
        case .json: return cell.isEmpty ? .null : try JSONParser.parse(cell)
        case .decimalComma:
            let digits = cell.filter { $0 != UInt8(ascii: ".") }
            return try JSONParser.parse(
                digits.map { $0 == UInt8(ascii: ",") ? UInt8(ascii: ".") : $0 })
        }
    }

    /// Returns the cell for a text: the text itself, or a JSON string when a reader would take the
    /// text for another value.
    package static func cell(_ text: [UInt8]) -> [UInt8] {
        taggedValue(text) != nil ? JSONValue.string(Text(utf8: text)).serialized() : text
    }

    /// Returns the value of a cell that is no plain text among the texts of an export: a tagged
    /// value, or a JSON string.
    private static func taggedValue(_ cell: [UInt8]) -> JSONValue? {
        let isQuoted = cell.first == UInt8(ascii: "\"")
        guard isQuoted || cell.starts(with: #"{"$"#.utf8) else { return nil }
        do {
            let value = try JSONParser.parse(cell)
            if case .object(let members) = value {
                return TagReader.isTagged(members) ? value : nil
            }
            return isQuoted ? value : nil
        } catch {
            return nil
        }
    }

    private static func nested(_ cell: [UInt8], anyOfExport: Bool) -> JSONValue? {
        let isOpen = cell.first == UInt8(ascii: "{") || cell.first == UInt8(ascii: "[")
        guard isOpen, anyOfExport || cell.starts(with: #"{"$"#.utf8) else { return nil }
        do {
            return try JSONParser.parse(cell)
        } catch {
            return nil
        }
    }
}

/// Cells that are plain decimal numbers.
private struct NumberCells {
    private(set) var count = 0
    private var hasFraction = false
    private var hasTrailingZero = false
    /// Indicates whether one of them is a measure and no version: it is below zero, or has three or
    /// more digits after the point.
    private var isMeasure = false
    private var hasBigInteger = false
    /// The number of digits after the point in the numbers with a fraction; -1 when it differs.
    private var decimals: Int?

    mutating func add(_ cell: [UInt8]) {
        guard let digits = Decimal(cell, point: UInt8(ascii: ".")) else { return }
        if let fraction = digits.fraction {
            // A number with more digits than a double keeps would be printed with other digits.
            guard digits.significant <= 15 else { return }
            hasFraction = true
            if fraction.count >= 3 || cell.first == UInt8(ascii: "-") { isMeasure = true }
            if fraction.last == UInt8(ascii: "0") { hasTrailingZero = true }
            decimals = decimals.map { $0 == fraction.count ? $0 : -1 } ?? fraction.count
        } else {
            guard let value = Int64(String(decoding: cell, as: UTF8.self)) else { return }
            if value.magnitude > 1 << 53 { hasBigInteger = true }
        }
        count += 1
    }

    /// The type of the numbers. It is `.string` when they are more likely codes, or when they would
    /// not be exact.
    var type: FieldType {
        guard hasFraction else { return .int64 }
        // `1.10` beside `1.9` are versions, `38.70` beside `38.704022` are not.
        let isCode = hasTrailingZero && decimals == -1 && !isMeasure
        return hasBigInteger || isCode ? .string : .double
    }
}

/// Cells that are decimals with a comma.
private struct CommaCells {
    private(set) var count = 0
    /// Indicates whether at least one cell cannot be a whole number with a comma between its
    /// thousands.
    private(set) var isCertain = false

    mutating func add(_ cell: [UInt8]) {
        let parts = cell.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        guard parts.count <= 2, let whole = Self.ungrouped(parts[0]) else { return }
        guard parts.count == 2 else {
            count += Decimal(whole, point: UInt8(ascii: ",")) == nil ? 0 : 1
            return
        }
        guard
            let digits = Decimal(whole + [UInt8(ascii: ",")] + parts[1], point: UInt8(ascii: ",")),
            let fraction = digits.fraction, digits.significant <= 15
        else { return }
        count += 1
        if fraction.count != 3 || whole.count != parts[0].count { isCertain = true }
    }

    /// Returns the number without the points between thousands. Returns nil when the points are in
    /// other places.
    private static func ungrouped(_ whole: ArraySlice<UInt8>) -> [UInt8]? {
        let groups = whole.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard groups.count > 1 else { return Array(whole) }
        let first = groups[0].filter { $0 != UInt8(ascii: "-") }
        guard (1...3).contains(first.count), groups.dropFirst().allSatisfy({ $0.count == 3 })
        else { return nil }
        return groups.flatMap { $0 }
    }
}

/// The digits of a number in the spelling in which it would be printed: no `+`, no `-0`, no leading
/// zeros, no exponent.
private struct Decimal {
    let fraction: ArraySlice<UInt8>?
    let significant: Int

    init?(_ cell: [UInt8], point: UInt8) {
        let isNegative = cell.first == UInt8(ascii: "-")
        let parts = cell.dropFirst(isNegative ? 1 : 0).split(
            separator: point, omittingEmptySubsequences: false)
        guard parts.count <= 2,
            parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(IdentifierRule.isDigit) })
        else { return nil }
        let whole = parts[0]
        let isZero = whole.elementsEqual([UInt8(ascii: "0")])
        guard isZero || whole.first != UInt8(ascii: "0") else { return nil }
        if parts.count == 1, isNegative, isZero { return nil }
        fraction = parts.count == 2 ? parts[1] : nil
        let digits = parts.joined().drop { $0 == UInt8(ascii: "0") }
        significant = digits.count
    }
}

extension ISO8601 {
    /// Returns whether the text is a date with its time and its offset, so that it is one point in
    /// time, and no finer than a timestamp.
    fileprivate static func isWhole(_ text: [UInt8]) -> Bool {
        guard (17...32).contains(text.count), parse(text) != nil else { return false }
        guard let point = text.firstIndex(of: UInt8(ascii: ".")) else { return true }
        return text[(point + 1)...].prefix(while: IdentifierRule.isDigit).count <= 3
    }
}
