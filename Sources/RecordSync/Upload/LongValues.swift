import Glibc
import RecordModel
import RecordStore
import RecordWire

/// Values that stand in assets on the wire (`RecordDocument.longFields`): a field `NAME` is empty there,
/// with its type, and `NAME_ckAsset` has the bytes. Who does not know that sees an asset.
extension OutboxClaim {
    /// What the fields of long values are on the wire besides themselves: an asset for one that goes, and
    /// nothing for one that was there and is no more.
    ///
    /// - Parameter hasExtensions: whether the server takes it that a field is cleared which it does not
    ///   have: then one that some other program has filled goes with its value too.
    func twins(hasExtensions: Bool) -> [(twin: FieldName, value: FieldValue?)] {
        guard let document else { return [] }
        return changedFields.compactMap { name in
            guard let twin = name.twin, document[twin] == nil else { return nil }
            if longFields.contains(name) { return (twin, document[name]) }
            guard base != nil, !changedFields.contains(twin) else { return nil }
            let old = baseDocument?[name]
            let hadTwin = longFieldsOfBase.contains(name)
            let mayHaveTwin =
                hasExtensions && old?.longBytes != nil
                && document[name]?.longBytes?.isEmpty ?? true
            return hadTwin || mayHaveTwin ? (twin, nil) : nil
        }
    }

    /// Whether a changed field is one that a long value takes.
    func isTaken(_ name: FieldName) -> Bool {
        guard document?[name] == nil, let field = name.field else { return false }
        return longFields.contains(field)
    }
}

extension FieldValue {
    /// The value of the same type that stands for a long one.
    var emptied: FieldValue {
        if case .bytes = self { .bytes([]) } else { .string(Text(utf8: [])) }
    }
}

/// A file in the store's room for unfinished ones, which goes with this.
final class TemporaryBytes: Sendable {
    let path: String

    /// Errors: noSpace, and others of writing.
    init(_ bytes: [UInt8], path: String) throws(RecordError) {
        self.path = path
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw RecordError.systemCall("make \(path)", errno) }
        defer { close(descriptor) }
        var done = 0
        while done < bytes.count {
            let written = bytes.withUnsafeBytes { buffer in
                write(descriptor, buffer.baseAddress.map { $0 + done }, buffer.count - done)
            }
            if written < 0 && errno == EINTR { continue }
            guard written >= 0 else {
                let code = errno
                unlink(path)
                throw RecordError.systemCall("write \(path)", code)
            }
            done += written
        }
    }

    deinit { unlink(path) }
}
