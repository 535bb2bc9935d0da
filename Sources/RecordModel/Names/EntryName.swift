/// The meaning of a name in a TYPE directory (MountContract, "Names beside a record").
package enum EntryName: Hashable, Sendable {
    /// `STEM.json`. The stem need not be canonical. The caller refuses it when it is not.
    case record(Stem)
    /// `STEM@FIELD`, `STEM@FIELD.EXT`, `STEM@FIELD.INDEX` or `STEM@FIELD.INDEX.EXT`; the extension
    /// is without its dot, may hold dots, and is empty when there is none.
    case asset(stem: Stem, field: FieldName, index: Int?, fileExtension: [UInt8])
    /// Every other name: an ordinary file of this machine.
    case scratch([UInt8])

    /// Classifies a name.
    ///
    /// Names that begin with `.` or `#` or end with `~` are never data. No encoded stem begins like
    /// that, and editors give such names to their locks, swap files and backups, also to those of
    /// assets.
    package init(classifying name: [UInt8]) {
        guard let first = name.first, first != UInt8(ascii: "."), first != UInt8(ascii: "#"),
            name.last != UInt8(ascii: "~")
        else {
            self = .scratch(name)
            return
        }
        if let asset = EntryName(asset: name) {
            self = asset
        } else if name.count > 5, name.suffix(5).elementsEqual(".json".utf8) {
            self = .record(Stem(bytes: Array(name.dropLast(5))))
        } else {
            self = .scratch(name)
        }
    }

    private init?(asset name: [UInt8]) {
        guard let sign = name.firstIndex(of: UInt8(ascii: "@")), sign > 0 else { return nil }
        let rest = name[(sign + 1)...]
        let fieldEnd = rest.firstIndex(of: UInt8(ascii: ".")) ?? rest.endIndex
        let field = FieldName(bytes: Array(rest[..<fieldEnd]))
        guard field.isValid else { return nil }
        var tail = rest[fieldEnd...].dropFirst()
        let indexEnd = tail.firstIndex(of: UInt8(ascii: ".")) ?? tail.endIndex
        let index = Self.index(tail[..<indexEnd])
        if index != nil { tail = tail[indexEnd...].dropFirst() }
        self = .asset(
            stem: Stem(bytes: Array(name[..<sign])), field: field, index: index,
            fileExtension: Array(tail))
    }

    /// Returns a decimal number without leading zeros, so that one element has one name.
    private static func index(_ digits: ArraySlice<UInt8>) -> Int? {
        guard !digits.isEmpty, digits.count <= 9, digits.allSatisfy(IdentifierRule.isDigit),
            digits.count == 1 || digits.first != UInt8(ascii: "0")
        else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    /// Returns the name of an asset's file.
    package static func assetFileName(
        stem: Stem, field: FieldName, index: Int?, fileExtension: [UInt8]
    ) -> [UInt8] {
        var name = stem.bytes + [UInt8(ascii: "@")] + field.bytes
        if let index { name += ".\(index)".utf8 }
        if !fileExtension.isEmpty { name += [UInt8(ascii: ".")] + fileExtension }
        return name
    }
}
