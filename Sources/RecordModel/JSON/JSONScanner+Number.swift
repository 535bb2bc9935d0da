extension JSONScanner {
    /// Reads a number. The cursor is on `-` or its first digit.
    mutating func number() throws(RecordError) -> JSONNumber {
        let start = at
        let isNegative = byte == UInt8(ascii: "-")
        if isNegative { at += 1 }
        let magnitude = try integerPart(start)
        var isInteger = true
        if byte == UInt8(ascii: ".") {
            isInteger = false
            at += 1
            try digits("a digit after the decimal point")
        }
        if byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") {
            isInteger = false
            at += 1
            if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") { at += 1 }
            try digits("a digit in the exponent")
        }
        guard isInteger else { return try fraction(start) }
        guard let magnitude,
            let value = isNegative
                ? Self.negated(magnitude) : Int64(exactly: magnitude)
        else {
            throw error(
                "the integer is outside the 64-bit range; write it with .0 for a DOUBLE, or in "
                    + "quotes for a STRING", at: start)
        }
        return value == 0 && isNegative
            ? JSONNumber(checked: bytes[start..<at]) : JSONNumber(value)
    }

    /// Reads the integer part. Returns nil when it does not fit 64 bits.
    private mutating func integerPart(_ start: Int) throws(RecordError) -> UInt64? {
        let first = at
        var magnitude: UInt64 = 0
        var overflow = false
        while case let digit = byte &- UInt8(ascii: "0"), digit < 10 {
            let (product, over1) = magnitude.multipliedReportingOverflow(by: 10)
            let (sum, over2) = product.addingReportingOverflow(UInt64(digit))
            magnitude = sum
            overflow = overflow || over1 || over2
            at += 1
        }
        guard at > first else {
            if byte == UInt8(ascii: "I") || byte == UInt8(ascii: "N") {
                throw wordError(from: at)
            }
            throw expected("a digit")
        }
        if at - first > 1, bytes[first] == UInt8(ascii: "0") {
            throw error("a number cannot begin with 0; remove the zero", at: first)
        }
        if byte == UInt8(ascii: "x") || byte == UInt8(ascii: "X") {
            throw error("JSON has no hexadecimal numbers; write it in decimal", at: start)
        }
        return overflow ? nil : magnitude
    }

    private static func negated(_ magnitude: UInt64) -> Int64? {
        if magnitude == UInt64(1) << 63 { return .min }
        return Int64(exactly: magnitude).map { -$0 }
    }

    private mutating func digits(_ what: String) throws(RecordError) {
        let first = at
        while byte &- UInt8(ascii: "0") < 10 { at += 1 }
        if at == first { throw expected(what) }
    }

    private func fraction(_ start: Int) throws(RecordError) -> JSONNumber {
        let number = JSONNumber(checked: bytes[start..<at])
        guard number.double.isFinite else {
            throw error("the number is beyond the range of a double, about 1.8e308", at: start)
        }
        return number
    }
}
