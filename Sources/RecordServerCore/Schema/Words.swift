package import RecordModel

/// The words of a text for the index of SEARCHABLE fields: runs of letters, digits and marks in
/// lower case. Every ideograph is a word of its own.
package enum Words {
    /// Returns the words of a text. With more than `limit` words, the caller needs no more of them.
    package static func of(_ text: Text, upTo limit: Int = .max) -> Set<[UInt8]> {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return ofASCII(text.utf8, upTo: limit) }
        var words: Set<[UInt8]> = []
        var word = String.UnicodeScalarView()
        func end() {
            if word.isEmpty { return }
            words.insert(Array(String(word).lowercased().utf8))
            word.removeAll(keepingCapacity: true)
        }
        for scalar in text.string.unicodeScalars where words.count <= limit {
            if scalar.isASCII {
                if isASCIIWord(scalar) { word.append(scalar) } else { end() }
            } else if scalar.properties.isIdeographic {
                end()
                word.append(scalar)
                end()
            } else if isWord(scalar.properties) {
                word.append(scalar)
            } else {
                end()
            }
        }
        end()
        return words
    }

    /// Returns the words of an ASCII text, as most texts are, without the tables of Unicode.
    private static func ofASCII(_ text: [UInt8], upTo limit: Int) -> Set<[UInt8]> {
        var words: Set<[UInt8]> = []
        var word: [UInt8] = []
        for byte in text {
            if isASCIIWord(Unicode.Scalar(byte)) {
                word.append(byte < UInt8(ascii: "A") ? byte : byte | 0x20)
            } else if !word.isEmpty {
                words.insert(word)
                word.removeAll(keepingCapacity: true)
                if words.count > limit { return words }
            }
        }
        if !word.isEmpty { words.insert(word) }
        return words
    }

    private static func isASCIIWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9": true
        default: false
        }
    }

    private static func isWord(_ properties: Unicode.Scalar.Properties) -> Bool {
        if properties.isAlphabetic || properties.numericType != nil { return true }
        return switch properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: false
        }
    }
}
