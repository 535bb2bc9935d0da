import RecordModel
import RecordWire

/// The stored outcome of a records/modify with an `operationID`: which request it was, and the
/// result of each of its operations.
///
/// It has no content and no rights: the answer to a retry shows the records as the caller may see
/// them by then. The names are those of the request, which the retry sends again, except names that
/// were made here.
struct OperationOutcome: Equatable {
    enum Item: Equatable {
        case saved(tag: Int64)
        /// Deleted, left or withdrawn.
        case gone
        case failed(ServerErrorCode, reason: String)
    }

    struct Entry: Equatable {
        /// The name that the server made. It is nil when the request has the name.
        var madeName: RecordName?
        var item: Item
    }

    /// The most requests whose outcomes are kept for one user in a database.
    static let maximumCount = 200
    /// The most bytes of all reasons of a request together.
    private static let reasonBytes = 8 << 10

    /// The SHA-256 of the request.
    let digest: [UInt8]
    var entries: [Entry]

    static func digest(of body: JSONValue) -> [UInt8] {
        SHA256.digest(of: body.serialized())
    }

    func encoded() -> [UInt8] {
        var fields = SealedFields()
        fields.append(digest)
        var rest = Self.reasonBytes
        for entry in entries {
            fields.append(entry.madeName?.bytes ?? [])
            switch entry.item {
            case .gone: fields.append(0)
            case .saved(let tag):
                fields.append(1)
                fields.append(tag)
            case .failed(let code, let reason):
                let isShort = reason.utf8.count <= rest
                let kept = isShort ? reason : "It failed when the request came first."
                if isShort { rest -= reason.utf8.count }
                fields.append(2)
                fields.append(Array(code.rawValue.utf8))
                fields.append(Array(kept.utf8))
            }
        }
        return fields.bytes
    }

    /// Reads the bytes. Returns nil for bytes that `encoded` did not make.
    init?(_ bytes: [UInt8]) {
        var reader = SealedFieldReader(bytes)
        guard let digest = reader.part(), digest.count == SHA256.digestBytes else {
            return nil
        }
        self.init(digest: digest, entries: [])
        while !reader.isAtEnd {
            guard let name = reader.part(), let item = Self.item(&reader) else { return nil }
            entries.append(
                Entry(madeName: name.isEmpty ? nil : RecordName(bytes: name), item: item))
        }
    }

    init(digest: [UInt8], entries: [Entry]) {
        self.digest = digest
        self.entries = entries
    }

    private static func item(_ reader: inout SealedFieldReader) -> Item? {
        switch reader.number() {
        case 0: return .gone
        case 1: return reader.number().map { .saved(tag: $0) }
        case 2:
            guard let code = reader.part(), let reason = reader.part(),
                let known = ServerErrorCode(rawValue: String(decoding: code, as: UTF8.self))
            else { return nil }
            return .failed(known, reason: String(decoding: reason, as: UTF8.self))
        default: return nil
        }
    }
}

extension ModifyPlan {
    /// Returns the outcome to keep of the request for its retries.
    func outcome(digest: [UInt8]) -> OperationOutcome {
        OperationOutcome(
            digest: digest,
            entries: steps.map { step in
                let item: OperationOutcome.Item =
                    switch step.outcome {
                    case .failed(let error): .failed(error.code, reason: error.reason)
                    case .saved(let plan):
                        .saved(tag: (overlay.planned[plan.record.name] ?? plan).record.tag)
                    case .deleted, .left, .withdrawn: .gone
                    }
                let isNamed = step.request.map { $0.record.name != nil } ?? true
                return OperationOutcome.Entry(madeName: isNamed ? nil : step.name, item: item)
            })
    }
}
