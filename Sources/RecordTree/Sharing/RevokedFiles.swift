import RecordModel
import RecordStore
import Synchronization

/// Open files with information about shares of others. When the share ends, they can no longer be
/// read. Files of records are ended by `revoke`.
extension Tree {
    /// Throws when the share that the file shows has ended.
    func checkIsShared(_ file: ShareFile) throws(RecordError) {
        if try share(file) == nil { throw .sharedNoLonger(kept: false) }
    }

    /// Returns the zone that a file below `.recordfs` is about. Returns nil where it is about no
    /// zone.
    func zone(of path: ControlPath) throws(RecordError) -> ZoneID? {
        switch path {
        case .meta(let record), .error(let record):
            guard let record = try store.record(record) else { return nil }
            return try store.type(record.type)?.zone
        case .version(let token): return try store.versionEntry(token)?.1
        case .trashed(let id): return try store.trashEntry(id)?.zone
        case .conflictFile(let id, _): return try store.conflict(id)?.zone
        case .export(let type, _): return try store.type(type)?.zone
        default: return nil
        }
    }

    func isOfOthers(_ path: ControlPath) throws(RecordError) -> Bool {
        try zone(of: path).map(isOfOthers) ?? false
    }

    /// Throws when the type has no refusals any more, because reports name shared records.
    func checkHasErrors(_ type: TypeID) throws(RecordError) {
        guard try store.type(type) != nil, try errorReport(of: type) != nil else {
            throw .sharedNoLonger(kept: false)
        }
    }

    /// Throws when the subject of a file about a zone of others no longer exists.
    func checkIsThere(_ path: ControlPath) throws(RecordError) {
        if try zone(of: path) == nil { throw .sharedNoLonger(kept: false) }
    }

    /// Makes open local files of a directory that was removed with a share read as empty and refuse
    /// writes.
    ///
    /// - Returns: the notices that drop the kernel's pages of them.
    func revokeScratch(goneWith change: StoreChange) -> [KernelNotice] {
        guard change.author == .sync, isOfOthers(change.zone) else { return [] }
        let gone: ScratchPlace.Directory
        switch (change.kind, change.type) {
        case (.zoneRemoved, _): gone = .zone(change.zone)
        case (.typeRemoved, let type?): gone = .type(type)
        default: return []
        }
        var notices: [KernelNotice] = []
        for handle in handles(on: { if case .scratch = $0 { true } else { false } }) {
            guard case .scratch(_, let id) = handle.current, base(of: id) == gone else { continue }
            handle.backing.withLock { $0 = .bytes([]) }
            if let number = state.withLock({ $0.nodes.number(of: .scratch(id)) }) {
                notices.append(.content(number))
            }
        }
        return notices
    }

    /// Returns the mount's directory that contains a local file, also through other local
    /// directories.
    private func base(of id: ScratchID) -> ScratchPlace.Directory? {
        state.withLock { state in
            var next = state.scratch.place(of: id)?.directory
            while case .scratch(let parent)? = next {
                next = state.scratch.place(of: parent)?.directory
            }
            return next
        }
    }
}
