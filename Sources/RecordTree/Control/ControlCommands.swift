import RecordModel
import RecordStore
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

extension Tree {
    func run(_ buffer: CommandBuffer) throws(RecordError) {
        guard let text = try buffer.take() else { return }
        switch buffer.target {
        case .control(.schema(isProduction: false)):
            let schemas = try SchemaText.parse(text)
            try store.write(author: .mount) { transaction throws(RecordError) in
                for (type, schema) in schemas { try transaction.setSchema(schema, of: type) }
            }
        case .control(.conflictFile(let conflict, .merged)):
            try settle(conflict, .text(text, since: buffer.base), text)
            waitUntilHeard()
        case .share(let file): try save(text, of: file)
        case .control: return
        }
    }

    /// Settles a conflict with a text. A text that cannot be saved becomes the draft of the record,
    /// as after a save of the record's own file, because many programs ignore the error of `close`.
    private func settle(
        _ conflict: Int64, _ settlement: Settlement, _ text: [UInt8]
    ) throws(RecordError) {
        // The author is not the mount, because the kernel does not know that the record's file is
        // now another one.
        do throws(RecordError) {
            try store.write(author: .restore) { transaction throws(RecordError) in
                try transaction.settle(conflict, settlement)
            }
        } catch  where error.isAboutContent {
            let reason = error
            try store.write(author: .restore) { transaction throws(RecordError) in
                try transaction.keepDraft(text, of: conflict, because: reason)
            }
            throw reason
        }
    }

    /// Runs the commands, one on each line, while they are written. A failed command becomes an
    /// errno of write().
    func runCommands(_ data: UnsafeRawBufferPointer) throws(RecordError) {
        for line in data.split(separator: UInt8(ascii: "\n")) {
            let words = String(decoding: line, as: UTF8.self).split(separator: " ")
            guard let command = words.first else { continue }
            try run(command: String(command), arguments: words.dropFirst().map(String.init))
        }
    }

    /// Runs one command. `forget cache` is about this mount alone; the others are verbs.
    private func run(command: String, arguments: [String]) throws(RecordError) {
        if command == "forget" {
            guard arguments == ["cache"] else {
                throw RecordError(.invalidArgument, "write: forget cache")
            }
            notify(Database.allCases.map { .content(NodeNumber($0)) })
            return
        }
        guard let verb = ControlVerb(rawValue: command), verb.traits.contains(.isLine) else {
            let lines = ControlVerb.allCases.filter { $0.traits.contains(.isLine) }
            let names = lines.map(\.rawValue).joined(separator: ", ")
            throw RecordError(.invalidArgument, "\(command): commands are \(names), forget")
        }
        guard verb == .retry else { return try options.exchange.run(verb) }
        if options.exchange.status() != nil { try options.exchange.run(verb) }
        guard retryUnsaved() else {
            throw RecordError(.noSpace, "\(unsavedCount) records still cannot be saved")
        }
    }
}
