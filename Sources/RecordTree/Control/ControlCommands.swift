import RecordModel
import RecordStore

/// Acts on texts that programs write to files which take text.
final class ControlCommands: Sendable {
    let kernel: KernelNotifier
    let options: TreeOptions
    let saving: RecordSaving
    let shareSaving: ShareSaving
    let store: RecordStore

    init(_ ground: Ground, _ recordRooms: RecordRooms, _ shareRooms: ShareRooms) {
        kernel = ground.kernel
        options = ground.options
        saving = recordRooms.saving
        shareSaving = shareRooms.shareSaving
        store = ground.store
    }

    /// Acts on the text that was written since the last call.
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
            kernel.waitUntilHeard()
        case .share(let file): try shareSaving.save(text, of: file)
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
                try transaction.merging.settle(conflict, settlement)
            }
        } catch  where error.isAboutContent {
            let reason = error
            try store.write(author: .restore) { transaction throws(RecordError) in
                try transaction.merging.keepDraft(text, of: conflict, because: reason)
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
                let written = ([command] + arguments).joined(separator: " ")
                throw RecordError(.invalidArgument, "\(written): the command is forget cache")
            }
            kernel.notify(Database.allCases.map { .content(NodeNumber($0)) })
            return
        }
        guard let verb = ControlVerb(rawValue: command), verb.traits.contains(.isLine) else {
            let lines = ControlVerb.allCases.filter { $0.traits.contains(.isLine) }
            let names = lines.map(\.rawValue).joined(separator: ", ")
            throw RecordError(.invalidArgument, "\(command): commands are \(names), forget")
        }
        guard verb == .retry else { return try options.server.run(verb) }
        if options.server.status() != nil { try options.server.run(verb) }
        guard saving.retryUnsaved() else {
            throw RecordError(.noSpace, "\(saving.unsavedCount) records still cannot be saved")
        }
    }
}
