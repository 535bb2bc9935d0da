/// The relation between the record names of a zone and the file names of its types.
///
/// A name is unique in its zone over all types, and a file name in its type. When another type
/// already has a record NAME, a new record gets the name `NAME:TYPE` and still shows as NAME. The
/// rule is the same on every machine and depends only on the names that a type has:
///
/// **`X:TYPE` shows in TYPE as X, unless TYPE has a record X. Every other name shows as itself.**
///
/// Two names never show as one. When both are shown short, the omitted parts are equal. When only
/// one is, the other would be the X that prevents the short form. One ending is omitted, not
/// several: `X:TYPE:TYPE` shows as `X:TYPE`.
extension RecordName {
    /// Returns `X` for `X:TYPE`. Returns nil for a name that does not end in this way, or has
    /// nothing before the ending.
    package func without(_ type: RecordTypeName) -> RecordName? {
        let kept = bytes.count - type.bytes.count - 1
        guard kept > 0, bytes[kept] == UInt8(ascii: ":"),
            bytes[(kept + 1)...].elementsEqual(type.bytes)
        else { return nil }
        return RecordName(bytes: Array(bytes[..<kept]))
    }

    /// Returns `X:TYPE` for `X`.
    package func with(_ type: RecordTypeName) -> RecordName {
        RecordName(bytes: bytes + [UInt8(ascii: ":")] + type.bytes)
    }

    /// Returns the name under which the record shows in the directory of its type.
    ///
    /// - Parameter has: returns whether the type has a record with a name.
    package func shown<Failure>(
        in type: RecordTypeName, has: (RecordName) throws(Failure) -> Bool
    ) throws(Failure) -> RecordName {
        guard let short = without(type), try !has(short) else { return self }
        return short
    }

    /// Returns the names that a new record may get so that it shows as this name, the best first.
    ///
    /// A name that ends with the type's name would show as this one only while another record
    /// exists. `X:TYPE:TYPE` still shows as `X:TYPE` after that record is deleted.
    package func candidates(in type: RecordTypeName) -> [RecordName] {
        without(type) == nil ? [self, with(type)] : [with(type), self]
    }
}
