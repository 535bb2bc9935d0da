import RecordModel

/// Bytes that a file could not take, with the reason. After a failed write the text is not the one
/// that its writer intended. Until the missing bytes are written after all, the file is not saved.
struct WriteFailure: Sendable {
    /// The start and the end of the missing bytes.
    private(set) var start: Int64
    private var end: Int64
    let error: RecordError

    init(offset: Int64, count: Int, error: RecordError) {
        start = offset
        end = offset.addingClamped(max(1, Int64(count)))
        self.error = error
    }

    /// Returns whether the error means that the file could not take the bytes. A program that may
    /// no longer write has lost nothing of its earlier writes.
    static func isOne(_ error: RecordError) -> Bool {
        switch error.code {
        case .accessDenied, .readOnly, .stale, .notPermitted, .isDirectory: false
        default: true
        }
    }
}

extension WriteFailure? {
    /// Notes that a write has failed. Bytes that were missing before are still missing.
    mutating func note(offset: Int64, count: Int, _ error: RecordError) {
        guard WriteFailure.isOne(error) else { return }
        if self == nil { self = WriteFailure(offset: offset, count: count, error: error) }
    }

    /// Notes that these bytes are written now: programs repeat a failed write.
    mutating func noteWrite(offset: Int64, count: Int) {
        self?.fill(offset, offset.addingClamped(Int64(count)))
        if self?.isFilled == true { self = nil }
    }

    /// Notes the new end of the file: its writer continues from there.
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
