/// How the record names of a zone and the file names of its types belong together.
///
/// A name is unique in its zone over all types, a file name in its type. So a record whose name
/// another type has is named `NAME:TYPE`, and shows as NAME all the same. The rule, which is the same
/// on every machine and depends on nothing but the names that a type has:
///
/// **`X:TYPE` shows in TYPE as X, unless TYPE has a record X. Every other name shows as itself.**
///
/// Two names never show as one: where both are shown short, what they leave out is the same; where
/// one is, the other would be the X that keeps it from being short. One ending is left out, not
/// several: `X:TYPE:TYPE` shows as `X:TYPE`.
extension RecordName {
    /// `X` of `X:TYPE`; nil for a name that does not end so, or has nothing before it.
    package func without(_ type: RecordTypeName) -> RecordName? {
        let kept = bytes.count - type.bytes.count - 1
        guard kept > 0, bytes[kept] == UInt8(ascii: ":"),
            bytes[(kept + 1)...].elementsEqual(type.bytes)
        else { return nil }
        return RecordName(bytes: Array(bytes[..<kept]))
    }

    /// `X:TYPE` of `X`.
    package func with(_ type: RecordTypeName) -> RecordName {
        RecordName(bytes: bytes + [UInt8(ascii: ":")] + type.bytes)
    }

    /// What the name shows as in the directory of its type.
    ///
    /// - Parameter has: whether the type has a record of a name.
    package func shown<Failure>(
        in type: RecordTypeName, has: (RecordName) throws(Failure) -> Bool
    ) throws(Failure) -> RecordName {
        guard let short = without(type), try !has(short) else { return self }
        return short
    }

    /// The names that a new record may get which is to show as this one, the best first.
    ///
    /// A name that ends with the type's would show as this one only while there is another record.
    /// `X:TYPE:TYPE` goes on showing as `X:TYPE` when that one is deleted.
    package func candidates(in type: RecordTypeName) -> [RecordName] {
        without(type) == nil ? [self, with(type)] : [with(type), self]
    }
}
