import RecordModel
import RecordStore

/// The effects of a commit on the file of one record.
extension RemoteChanges {
    /// Moves an open file of the record to the record's new place. Where that cannot be read, a
    /// save makes a new record in the old place.
    func follow(_ file: RecordFile, to target: RecordID) {
        guard let open = records.open(file) else { return }
        do throws(RecordError) {
            guard let entry = try store.record(target), entry.state == .saved,
                let shown = try store.shownText(of: target)
            else { return }
            let place = try places.place(of: entry.type)
            let isSame = open.follow(to: place, showing: shown.text)
            records.move(file, to: entry.file, entry.type, entry.stem, isSame: isSame)
        } catch {
            options.report(
                "A program with an open file that was moved does not follow it: \(error)")
        }
    }

    /// Returns the notices for a record: the name shows another file, or the same file with other
    /// attributes.
    func recordNotices(
        of change: StoreChange, _ record: RecordID, _ parent: NodeNumber, _ name: [UInt8]
    ) -> [KernelNotice] {
        if let old = change.replaced { return [replacement(old, parent, name)] }
        guard let file = file(of: record), let number = nodes.number(of: .record(file)) else {
            return [.entry(parent: parent, name: name)]
        }
        return [.content(number)]
    }

    /// Returns the file of a record. Returns nil when there is none or it cannot be read: the
    /// kernel then asks again for the name.
    private func file(of record: RecordID) -> RecordFile? {
        do throws(RecordError) {
            return try store.record(record)?.file
        } catch {
            options.report("The kernel looks up a changed record again: \(error)")
            return nil
        }
    }

    /// Returns the notice for a name that another file has now.
    func replacement(_ old: RecordFile?, _ parent: NodeNumber, _ name: [UInt8])
        -> KernelNotice
    {
        guard let old, let number = nodes.number(of: .record(old)) else {
            return .entry(parent: parent, name: name)
        }
        return .replaced(parent: parent, name: name, old: number)
    }

    /// Notifies the kernel when a call of the mount has made a name show another file without a
    /// move in the kernel: the text of a record whose asset was written, the draft of a refused
    /// rename. The listing is notified where that may have removed the name, and the record of an
    /// asset that was written, because its times may be others.
    func tellOfOwnReplacement(_ change: StoreChange) {
        guard let type = change.type, let stem = change.stem else { return }
        if change.effect == .rewritten || change.effect == .replaced, let file = change.replaced {
            nodeNotices.nameReplaced(type, stem, file)
            if change.kind == .draft || change.kind == .deleted {
                kernel.notify([.content(NodeNumber(type))])
            }
        } else if change.kind == .asset, let record = change.record,
            let number = file(of: record).flatMap({ nodes.number(of: .record($0)) })
        {
            kernel.notify([.content(number)])
        }
    }
}
