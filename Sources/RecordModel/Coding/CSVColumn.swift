/// What the cells of a CSV column say together about how they are read.
///
/// Conservative: a text that a number or a date would not print again as it stood stays text, as
/// codes (`007`, `32E0134`, `1.10` beside `1.9`), and so does all that has two readings.
package struct CSVColumn: Sendable {
    package enum Reading: Hashable, Sendable {
        case text
        /// Numbers, and nested values as an export writes them.
        case json
        /// Numbers with a comma before the fraction: `12,50`, `1.234,56`.
        case decimalComma
    }

    /// Whether the table was written by an export, which writes nested values as JSON.
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

    /// Takes the next cell that has a value.
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

    /// The type that all cells call for; nil without any.
    package var type: FieldType? {
        guard count > 0 else { return nil }
        if numbers.count == count { return numbers.type }
        if timestamps == count { return .timestamp }
        return isNested ? nestedEvidence.type : .string
    }

    /// The type in a table whose decimals have commas.
    package func type(withDecimalCommas: Bool) -> FieldType? {
        withDecimalCommas && isDecimalComma ? .double : type
    }

    /// Whether all cells are decimals that are certainly written with a comma.
    package var isDecimalComma: Bool { count > 0 && commas.count == count && commas.isCertain }

    private var isNested: Bool {
        nested == count && (isExport || tagged == count)
    }

    /// How the cells of this column are read for a field of this type; nil for a new one.
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

    /// The value of a cell of a column that is read so.
    ///
    /// Errors: `invalidJSON` for a cell that is none.
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

    /// The cell of a text: as it is, or as a JSON string where it would be read as another value.
    package static func cell(_ text: [UInt8]) -> [UInt8] {
        taggedValue(text) != nil ? JSONValue.string(Text(utf8: text)).serialized() : text
    }

    /// What is no plain text among the texts of an export: a tagged value, or a JSON string.
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
    /// A measure and no version is among them: below zero, or with three digits behind the point or more.
    private var isMeasure = false
    private var hasBigInteger = false
    /// The digits behind the point of those with a fraction; -1 when they differ.
    private var decimals: Int?

    mutating func add(_ cell: [UInt8]) {
        guard let digits = Decimal(cell, point: UInt8(ascii: ".")) else { return }
        if let fraction = digits.fraction {
            // More digits than a double keeps would come back as others.
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

    /// `.string` when the numbers together are more likely codes, or would not be exact.
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
    /// Whether any cell cannot be a whole number with a comma between its thousands.
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

    /// Without the points between thousands; nil when they stand elsewhere.
    private static func ungrouped(_ whole: ArraySlice<UInt8>) -> [UInt8]? {
        let groups = whole.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard groups.count > 1 else { return Array(whole) }
        let first = groups[0].filter { $0 != UInt8(ascii: "-") }
        guard (1...3).contains(first.count), groups.dropFirst().allSatisfy({ $0.count == 3 })
        else { return nil }
        return groups.flatMap { $0 }
    }
}

/// The digits of a number that is spelled as it would be printed: no `+`, no `-0`, no leading
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
    /// Whether it is a date with its time and its offset, so that it is one point in time, and no
    /// finer than a timestamp.
    fileprivate static func isWhole(_ text: [UInt8]) -> Bool {
        guard (17...32).contains(text.count), parse(text) != nil else { return false }
        guard let point = text.firstIndex(of: UInt8(ascii: ".")) else { return true }
        return text[(point + 1)...].prefix(while: IdentifierRule.isDigit).count <= 3
    }
}
