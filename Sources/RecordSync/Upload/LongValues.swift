import Glibc
import RecordModel
import RecordStore
import RecordStoreSync
import RecordWire

/// Values that are assets on the wire (`RecordDocument.longFields`). The field `NAME` is empty
/// there, with its type, and `NAME_ckAsset` has the bytes. A client that does not know this sees an
/// asset.
extension OutboxClaim {
    /// Returns the additional fields of long values on the wire: an asset for a value that is sent,
    /// and nothing for a value that was long and no longer is.
    ///
    /// - Parameter hasExtensions: whether the server allows clearing a field that it does not have.
    ///   Then an additional field that another program has filled is removed with its value too.
    func twins(hasExtensions: Bool) -> [(twin: FieldName, value: FieldValue?)] {
        guard let document else { return [] }
        // Core Data may keep a value of any length in the asset.
        let isOfCoreData = document[StoreModel.entityField] != nil
        return changedFields.compactMap { name in
            guard let twin = name.twin, document[twin] == nil else { return nil }
            if longFields.contains(name) { return (twin, document[name]) }
            guard base != nil, !changedFields.contains(twin) else { return nil }
            let old = baseDocument?[name]
            let hadTwin = longFieldsOfBase.contains(name)
            let readsTwin = document[name]?.longBytes?.isEmpty ?? true
            let mayHaveTwin = hasExtensions && old?.longBytes != nil && (readsTwin || isOfCoreData)
            return hadTwin || mayHaveTwin ? (twin, nil) : nil
        }
    }

    /// Returns whether a changed field is the additional field of a long value.
    func isTaken(_ name: FieldName) -> Bool {
        guard document?[name] == nil, let field = name.field else { return false }
        return longFields.contains(field)
    }
}

extension FieldValue {
    /// The empty value of the same type that replaces a long value.
    var emptied: FieldValue {
        if case .bytes = self { .bytes([]) } else { .string(Text(utf8: [])) }
    }
}

/// A file in the store's directory for unfinished files. It is removed at the end of this object.
final class TemporaryBytes: Sendable {
    let path: String

    /// Writes the bytes to a new file. Errors: noSpace, and others of writing.
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
