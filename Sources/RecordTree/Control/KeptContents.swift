import RecordModel
import RecordStore

/// The contents of generated files that are kept from one call to the next.
final class KeptContents: Sendable {
    private let files = StateLock(GeneratedFiles())

    /// Returns the content that `stat` shows while a program has the file open.
    func shown(_ path: ControlPath) -> GeneratedContent? { files.withLock { $0.shown(path) } }

    func open(_ path: ControlPath, _ content: GeneratedContent) {
        files.withLock { $0.open(path, content) }
    }

    func close(_ path: ControlPath) { files.withLock { $0.close(path) } }

    /// Returns the text with the time since which it is unchanged.
    func keep(_ path: ControlPath, _ text: [UInt8], now: Timestamp) -> GeneratedContent {
        files.withLock { $0.keep(path, text, now: now) }
    }

    /// Returns the last export, when nothing in its type has changed.
    func export(_ path: ControlPath, _ stamp: ChangeStamp) -> GeneratedContent? {
        files.withLock { $0.export(path, stamp) }
    }

    /// Keeps an export for the next reader.
    func keep(_ path: ControlPath, _ stamp: ChangeStamp, _ content: GeneratedContent) {
        let dropped = files.withLock { $0.keep(path, stamp, content) }
        // Their files are closed here, without the lock.
        withExtendedLifetime(dropped) {}
    }
}
