import RecordModel
import RecordStore

/// Open files with information about shares of others. When the share ends, they can no longer be
/// read.
extension RemoteChanges {
    /// Revokes a record of others that is no longer shared: programs that have it open read nothing
    /// of it any more. Unsaved writes wait for the next close, which reports them.
    ///
    /// - Returns: the notice that drops the kernel's pages of it.
    func revoke(_ file: RecordFile, of zone: ZoneID) -> [KernelNotice] {
        guard let open = records.open(file), places.isOfOthers(zone) else { return [] }
        records.forgetPast(file)
        open.revoke()
        return nodes.number(of: .record(file)).map { [.content($0)] } ?? []
    }

    /// Makes open local files of a directory that was removed with a share read as empty and refuse
    /// writes.
    ///
    /// - Returns: the notices that drop the kernel's pages of them.
    func revokeScratch(goneWith change: StoreChange) -> [KernelNotice] {
        guard change.author == .sync else { return [] }
        let gone: ScratchPlace.Directory
        switch (change.kind, change.type) {
        case (.zoneRemoved, _): gone = .zone(change.zone)
        case (.typeRemoved, let type?): gone = .type(type)
        default: return []
        }
        guard places.isOfOthers(change.zone) else { return [] }
        var notices: [KernelNotice] = []
        for handle in handles.all(on: { if case .scratch = $0 { true } else { false } }) {
            guard case .scratch(_, let id) = handle.current,
                scratch.scratchNodes.base(of: id) == gone
            else { continue }
            _ = handle.become(.bytes([]))
            if let number = nodes.number(of: .scratch(id)) {
                notices.append(.content(number))
            }
        }
        return notices
    }
}
