import Glibc
import RecordModel
import RecordStore

/// The files of records: opening, reading and writing them, and their attributes.
final class RecordFiles: Sendable {
    let errors: ErrorReports
    let modes: FileModes
    let options: TreeOptions
    let permissions: OwnPermissions
    let places: TypeDirectories
    let records: OpenRecords
    let rows: CachedRows
    let saving: RecordSaving
    let store: RecordStore

    init(_ ground: Ground, records: OpenRecords, saving: RecordSaving) {
        errors = ground.errors
        modes = ground.modes
        options = ground.options
        permissions = ground.permissions
        places = ground.places
        self.records = records
        rows = ground.rows
        self.saving = saving
        store = ground.store
    }

    /// Empties a file when it is opened, and forgets its failed writes.
    func empty(_ open: OpenRecord, writes: Bool) throws(RecordError) {
        do throws(RecordError) {
            try truncate(open, to: 0)
        } catch {
            saving.close(open, writes: writes)
            throw error
        }
        open.beginAnew()
    }

    /// Returns the shared state of the file's handles, with one more handle counted.
    func open(_ file: RecordFile, writes: Bool) throws(RecordError) -> OpenRecord {
        if let open = records.open(file, writes: writes) {
            if writes {
                try checkWritable(of: open)
                try noteHome(of: open)
            }
            return open
        }
        let entry = try entry(of: file, isFresh: writes)
        if writes { try permissions.checkWritable(entry.id, in: entry.type) }
        let made = OpenRecord(
            .init(
                file: file, type: entry.type, stem: entry.stem, isInStore: true,
                modified: entry.modified, changed: entry.statusChanged, created: entry.created))
        let open = records.share(made, as: file, writes: writes)
        if writes { try noteHome(of: open) }
        return open
    }

    /// Notes the place of the file: a save after its directory was removed needs it.
    private func noteHome(of open: OpenRecord) throws(RecordError) {
        let opened = open.identity
        if opened.home == nil { open.setHome(try places.place(of: opened.type)) }
    }

    /// - Parameter isFresh: whether to ask the store even when a listing has just read the row.
    private func entry(of file: RecordFile, isFresh: Bool) throws(RecordError) -> RecordEntry {
        if !isFresh, let known = rows.entry(file.record),
            known.file == file
        {
            return known
        }
        if let entry = try store.record(file.record), entry.file == file,
            entry.state != .waitingDelete
        {
            return entry
        }
        if let past = records.past(file), past.isOpenable { return past.entry }
        throw RecordError(.stale, "another file has the name; look it up again")
    }

    private func checkWritable(of open: OpenRecord) throws(RecordError) {
        do throws(RecordError) {
            let opened = open.identity
            try permissions.checkWritable(opened.file.record, in: opened.type)
        } catch {
            saving.close(open, writes: true)
            throw error
        }
    }

    /// Makes a name that waits for its first save. A name that was deleted within the grace time
    /// means the same record again, but its row stays deleted until that save: a crash before it
    /// leaves the record deleted, never with its old text. This does not apply when that record has
    /// another name now.
    func make(_ type: TypeID, _ stem: Stem) throws(RecordError) -> OpenRecord {
        var waiting = try rows.row(type, stem)
        if let row = waiting, try store.past.hasGivenUpName(row) { waiting = nil }
        let file: RecordFile
        if let waiting {
            file = waiting.file
        } else {
            guard stem.decoded != nil else { throw .invalidStem(stem) }
            try checkNameable(stem, in: type)
            file = RecordFile(record: try store.reserveRecordID(), incarnation: 0)
        }
        let changed = waiting.map { max(store.nextChange(), $0.statusChanged + .nanoseconds(1)) }
        let open = OpenRecord(
            .init(
                file: file, type: type, stem: stem, isInStore: false, text: [], version: 1,
                modified: options.now, changed: changed ?? store.nextChange(),
                created: waiting?.created ?? options.now, handles: 1, writers: 1))
        try noteHome(of: open)
        records.add(open, file, type, stem)
        return open
    }

    /// Refuses a file name under which no record can exist, before a file is made. The reason is in
    /// `.error`.
    func checkNameable(_ stem: Stem, in type: TypeID) throws(RecordError) {
        let place = try places.place(of: type)
        do throws(RecordError) {
            try store.past.checkNameable(stem, in: type, named: place.type, of: place.zone)
        } catch  where error.code == .invalidName || error.code == .alreadyExists {
            errors.note(.unmade, "\(stem).json", in: type, error)
            throw error
        }
    }

    /// Throws unless this user may write to the open file. The file may have been opened when that
    /// was allowed. Its directory may have been removed since then; the save restores it.
    func checkStillWritable(_ open: OpenRecord) throws(RecordError) {
        try open.checkIsShared()
        let opened = open.identity
        do throws(RecordError) {
            try permissions.checkWritable(opened.file.record, in: opened.type)
        } catch  where error.code == .stale {
            guard let home = opened.home, home.zone.database != .shared else { throw error }
        }
    }
}
