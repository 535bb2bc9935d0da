import CLinux
import Glibc
import RecordModel
import RecordStore

/// The texts of open records.
extension RecordFiles {
    func read(_ open: OpenRecord, offset: Int64, count: Int) throws(RecordError)
        -> [UInt8]
    {
        try open.checkIsShared()
        if let bytes = open.read(offset: offset, count: count) { return bytes }
        try load(open)
        return open.read(offset: offset, count: count) ?? []
    }

    /// Loads the text into memory, if it is not there yet.
    func load(_ open: OpenRecord) throws(RecordError) {
        guard let file = open.fileToLoad else { return }
        let shown: (file: RecordFile, text: [UInt8])?
        do throws(RecordError) {
            shown = try store.shownText(of: file.record)
        } catch {
            let opened = open.identity
            errors.note(.unread, "\(opened.stem).json", in: opened.type, error)
            throw error
        }
        if let shown, shown.file == file { return open.load(shown.text) }
        // The file was replaced in the meantime. Its text was kept before any program could see the
        // next one.
        guard open.fileToLoad != nil else { return }
        throw RecordError(.stale, "the record is gone")
    }

    func write(
        _ data: UnsafeRawBufferPointer, offset: Int64?, to open: OpenRecord
    ) throws(RecordError) {
        do throws(RecordError) {
            try load(open)
            try open.write(
                data, offset: offset, limit: options.limits.textBytes, now: options.now,
                changed: store.nextChange())
        } catch {
            open.noteFailure(offset: offset, count: data.count, error)
            throw error
        }
    }

    func truncate(_ open: OpenRecord, to size: Int64) throws(RecordError) {
        try checkStillWritable(open)
        if size > 0 { try load(open) }
        try open.truncate(
            to: size, limit: options.limits.textBytes, now: options.now, changed: store.nextChange()
        )
    }

    /// Returns the text that the record's file shows, with its time.
    func shownText(of file: RecordFile) throws(RecordError) -> ([UInt8], Timestamp) {
        if let open = records.open(file) {
            try load(open)
            return open.content
        }
        guard let entry = try store.record(file.record),
            let shown = try store.shownText(of: file.record)
        else { throw RecordError(.stale, "the record is gone") }
        return (shown.text, entry.modified)
    }
}
