import Glibc

/// A regular expression of a model, for texts that match it as a whole.
///
/// Core Data uses ICU's expressions. The part of them that POSIX has too is checked here, because
/// that takes a bounded time for every pattern and text. Others are not checked.
package struct TextPattern: Hashable, Sendable {
    package let source: String
    /// The POSIX extended expression for the whole text.
    private let translated: String

    /// The longest text that is compared, in characters.
    private static let charactersMax = 10_000
    /// The longest pattern, and the largest product of the repetitions in it: they decide the memory.
    private static let lengthMax = 200
    private static let repetitionsMax = 1000

    /// Creates a pattern. Returns nil for one that POSIX does not have: with look-around, lazy or
    /// possessive repetitions, references back, Unicode classes.
    package init?(_ source: String) {
        guard source.utf8.count <= Self.lengthMax, source.utf8.allSatisfy({ $0 < 0x80 }),
            let translated = Self.translate(source)
        else { return nil }
        self.source = source
        self.translated = "^(\(translated))$"
        guard withExpression({ _ in true }) != nil else { return nil }
    }

    private static func translate(_ source: String) -> String? {
        for foreign in ["(?", "*?", "+?", "??", "}?", "*+", "++", "?+", "}+", "[[", "&&"]
        where source.contains(foreign) {
            return nil
        }
        var result = ""
        var rest = source.makeIterator()
        var isInSet = false
        while let character = rest.next() {
            if character == "[" { isInSet = true }
            if character == "]" { isInSet = false }
            guard character == "\\" else {
                result.append(character)
                continue
            }
            guard let next = rest.next() else { return nil }
            switch next {
            case "d": result += isInSet ? "0-9" : "[0-9]"
            case "s" where !isInSet: result += "[[:space:]]"
            case ".", "-", "+", "*", "?", "(", ")", "{", "}", "|", "^", "$", "/", "@", "\\":
                // A set takes all but these two as they are.
                if isInSet, next == "-" || next == "\\" || next == "^" { return nil }
                result += isInSet ? String(next) : "\\\(next)"
            default: return nil
            }
        }
        return repetitions(in: source) <= repetitionsMax ? result : nil
    }

    /// Returns how often the largest part would stand in the expression, where each repetition is
    /// written out: a repetition of a repetition multiplies.
    private static func repetitions(in source: String) -> Int {
        source.split(separator: "{").dropFirst().reduce(1) { product, part in
            let bounds = part.prefix { $0 != "}" }.split(separator: ",")
            let count = bounds.map { Int($0) ?? repetitionsMax }.max() ?? 1
            return min(product, repetitionsMax + 1) * max(1, min(count, repetitionsMax + 1))
        }
    }

    /// Returns whether a text matches. A longer one than is compared here does.
    package func matches(_ text: String) -> Bool {
        // A character that is not of ASCII counts as one, which is no digit and no Latin letter.
        let bytes = text.unicodeScalars.prefix(Self.charactersMax + 1).map {
            $0.isASCII ? CChar($0.value) : CChar(bitPattern: 0xFF)
        }
        guard bytes.count <= Self.charactersMax, !bytes.contains(0) else { return true }
        return withExpression { expression in
            (bytes + [0]).withUnsafeBufferPointer {
                regexec(&expression, $0.baseAddress, 0, nil, 0)
            }
                == 0
        } ?? true
    }

    /// Returns nil when the C library refuses the expression.
    private func withExpression<Result>(_ body: (inout regex_t) -> Result) -> Result? {
        var expression = regex_t()
        guard regcomp(&expression, translated, REG_EXTENDED | REG_NOSUB) == 0 else { return nil }
        defer { regfree(&expression) }
        return body(&expression)
    }
}
