import RecordModel
import RecordStore

/// Handles records that show under other names because another record was added or removed.
extension RemoteChanges {
    /// Moves open files to the new names of their records: a program that has the file open
    /// continues with the record, and not with the next owner of its old name. Called before
    /// anything else is saved.
    func stemsChanged(_ changes: [StemChange]) {
        records.forgetReadings(
            of: changes.map { Readings.Name(type: $0.type, stem: $0.former) })
        let opened = handles.all.compactMap { handle -> OpenRecord? in
            if case .record(let open) = handle.current { open } else { nil }
        }
        for open in records.all + opened {
            open.follow(changes)
        }
    }

    /// Returns notices for both names: the kernel's knowledge of each of them is out of date.
    func stemNotices(of change: StoreChange) -> [KernelNotice] {
        guard let former = change.former, let type = change.type, let stem = change.stem else {
            return []
        }
        let parent = NodeNumber(type)
        return [
            .entry(parent: parent, name: former.fileName),
            .entry(parent: parent, name: stem.fileName), .content(parent),
        ]
    }

    /// Returns the touches for programs that watch the directory.
    func stemTouches(of change: StoreChange) -> [Touch] {
        guard let former = change.former, let type = change.type, let stem = change.stem,
            let path = places.directoryPath(of: type)
        else { return [] }
        return [(Touch.Kind.deleted, former), (.created, stem)].map { kind, stem in
            Touch(
                kind: kind, directory: NodeNumber(type), directoryPath: path,
                name: stem.fileName)
        }
    }
}
