import RecordModel

/// Bytes that a file could not take, and why: what is left of a text whose write has failed is not what its
/// writer meant. Until they are written all the same, the file is not saved.
struct WriteFailure: Sendable {
    /// Where the missing bytes begin and end.
    private(set) var start: Int64
    private var end: Int64
    let error: RecordError

    init(offset: Int64, count: Int, error: RecordError) {
        start = offset
        end = offset.addingClamped(max(1, Int64(count)))
        self.error = error
    }

    /// Whether the failure says that the file could not take the bytes. Who may not write any more has lost
    /// nothing of what he wrote before.
    static func isOne(_ error: RecordError) -> Bool {
        switch error.code {
        case .accessDenied, .readOnly, .stale, .notPermitted, .isDirectory: false
        default: true
        }
    }
}

extension WriteFailure? {
    /// A write has failed. What was missing before is missing still.
    mutating func note(offset: Int64, count: Int, _ error: RecordError) {
        guard WriteFailure.isOne(error) else { return }
        if self == nil { self = WriteFailure(offset: offset, count: count, error: error) }
    }

    /// These bytes are there now; programs repeat a write that has failed.
    mutating func noteWrite(offset: Int64, count: Int) {
        self?.fill(offset, offset.addingClamped(Int64(count)))
        if self?.isFilled == true { self = nil }
    }

    /// The file ends here now; its writer goes on from here, or has to.
    mutating func noteSize(_ size: Int64) { self?.cut(at: size) }
}

extension WriteFailure {
    fileprivate var isFilled: Bool { start >= end }

    fileprivate mutating func fill(_ first: Int64, _ last: Int64) {
        if first <= start { start = max(start, last) }
    }

    fileprivate mutating func cut(at size: Int64) {
        guard size <= start else { return }
        start = size
        end = size.addingClamped(1)
    }
}
