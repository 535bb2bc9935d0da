import RecordModel

/// Bytes that a file could not take, with the reason. After a failed write the text is not the one
/// that its writer intended. Until the missing bytes are written after all, the file is not saved.
struct WriteFailure: Sendable {
    /// The limit of the ranges. More are taken as one, from the first to the last missing byte.
    private static let most = 256

    /// The missing bytes, in order. INVARIANT: no range is empty or meets another one.
    private(set) var missing: [Range<Int64>]
    /// The reason of the first failed write.
    let error: RecordError

    init(offset: Int64, count: Int, error: RecordError) {
        missing = [Self.range(offset, max(1, count))]
        self.error = error
    }

    private static func range(_ offset: Int64, _ count: Int) -> Range<Int64> {
        let start = min(offset, .max - 1)
        return start..<max(start + 1, start.addingClamped(Int64(count)))
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
        let failed = WriteFailure(offset: offset, count: count, error: error)
        if self == nil { self = failed } else { self?.add(failed.missing) }
    }

    /// Notes that these bytes are written now: programs repeat a failed write.
    mutating func noteWrite(offset: Int64, count: Int) {
        self?.fill(offset, offset.addingClamped(Int64(count)))
        if self?.missing.isEmpty == true { self = nil }
    }

    /// Notes the new end of the file: its writer continues from there.
    mutating func noteSize(_ size: Int64) { self?.cut(at: size) }
}

extension WriteFailure {
    fileprivate mutating func add(_ ranges: [Range<Int64>]) {
        let all = (missing + ranges).sorted { $0.lowerBound < $1.lowerBound }
        missing = all.reduce(into: []) { joined, range in
            if let last = joined.last, last.upperBound >= range.lowerBound {
                let end = Swift.max(last.upperBound, range.upperBound)
                joined[joined.count - 1] = last.lowerBound..<end
            } else {
                joined.append(range)
            }
        }
        if missing.count > Self.most, let first = missing.first, let last = missing.last {
            missing = [first.lowerBound..<last.upperBound]
        }
    }

    fileprivate mutating func fill(_ start: Int64, _ end: Int64) {
        guard start < end else { return }
        missing = missing.flatMap { range in
            [
                (range.lowerBound, min(range.upperBound, start)),
                (max(range.lowerBound, end), range.upperBound),
            ]
            .filter { $0.0 < $0.1 }.map { $0.0..<$0.1 }
        }
    }

    fileprivate mutating func cut(at size: Int64) {
        let before = missing.filter { $0.lowerBound < size }
        guard before.count < missing.count else { return }
        missing = before
        add([Self.range(size, 1)])
    }
}
