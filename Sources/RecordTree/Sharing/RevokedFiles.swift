import RecordModel
import RecordStore
import Synchronization

/// Files that tell what others share, and that somebody has open: when it is shared no longer, they read
/// nothing of it any more. Those of records end by `revoke`.
extension Tree {
    /// Throws when the share that a file shows has ended.
    func checkIsShared(_ file: ShareFile) throws(RecordError) {
        if try share(file) == nil { throw .sharedNoLonger(kept: false) }
    }

    /// The zone of which a file below `.recordfs` tells; nil where it is of none.
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

    /// Throws when nothing is refused there any more: reports name what is shared.
    func checkHasErrors(_ type: TypeID) throws(RecordError) {
        guard try store.type(type) != nil, try errorReport(of: type) != nil else {
            throw .sharedNoLonger(kept: false)
        }
    }

    /// Throws when what a file of a zone of others told is gone.
    func checkIsThere(_ path: ControlPath) throws(RecordError) {
        if try zone(of: path) == nil { throw .sharedNoLonger(kept: false) }
    }

    /// Local files of a directory that has gone with a share read as empty, and take nothing.
    ///
    /// - Returns: what drops the pages that the kernel has of them.
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

    /// The directory in which a local file is, also where that is in others.
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
