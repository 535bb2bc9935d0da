import RecordModel
import Synchronization

/// The text that a program writes to `ctl`, to the development schema, to the merge of a conflict
/// or to a share.
final class CommandBuffer: Sendable {
    private static let sizeMax = 16 << 20
    enum Target: Equatable {
        case control(ControlPath)
        case share(ShareFile)
    }
    let target: Target
    /// The content of the file when it was opened.
    let base: [UInt8]?
    /// Indicates whether the content is about records that others share. The share may end while a
    /// program reads the file.
    let isOfOthers: Bool
    private struct State {
        var text: [UInt8]
        var isDirty = false
        /// The bytes that the text could not take. Then nothing is done with the text.
        var failure: WriteFailure?
    }
    private let state: Mutex<State>

    init(_ target: Target, base: [UInt8]?, isEmpty: Bool, isOfOthers: Bool = false) {
        self.target = target
        self.base = base
        self.isOfOthers = isOfOthers
        let text = isEmpty ? [] : base ?? []
        state = Mutex(State(text: text))
    }

    /// The size of the text as it was written so far.
    var size: Int64 { state.withLock { Int64($0.text.count) } }

    func read(offset: Int64, count: Int) -> [UInt8] {
        state.withLock { state in
            state.text.bytes(at: offset, count: count)
        }
    }

    func write(_ data: UnsafeRawBufferPointer, offset: Int64) throws(RecordError) {
        guard try TextLimit.fits(data.count, at: offset, limit: Self.sizeMax) else {
            let error = RecordError(.tooLarge, "more than \(Self.sizeMax) bytes")
            state.withLock { $0.failure.note(offset: offset, count: data.count, error) }
            throw error
        }
        state.withLock { state in
            state.text.write(data, at: Int(offset))
            state.failure.noteWrite(offset: offset, count: data.count)
            state.isDirty = true
        }
    }

    func truncate(to size: Int64) throws(RecordError) {
        guard try TextLimit.fits(0, at: size, limit: Self.sizeMax) else {
            throw RecordError(.tooLarge, "more than \(Self.sizeMax) bytes")
        }
        state.withLock { state in
            state.text.resize(to: Int(size))
            state.failure.noteSize(size)
            state.isDirty = true
        }
    }

    /// Returns the text when it has changed since it was last taken, and nil otherwise.
    /// Errors: those of a failed write, until its bytes were written after all.
    func take() throws(RecordError) -> [UInt8]? {
        if let failure = state.withLock(\.failure) { throw failure.error }
        return state.withLock { state in
            defer { state.isDirty = false }
            return state.isDirty ? state.text : nil
        }
    }
}
