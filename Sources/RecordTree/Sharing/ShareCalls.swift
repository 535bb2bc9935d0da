import RecordModel

/// Decides which calls may ask the record server before they are answered. Such a call must not run
/// on a thread that reads the kernel's calls, because the server may delay it.
final class ShareCalls: Sendable {
    let handles: OpenHandles
    let nodes: Nodes
    let options: TreeOptions
    let scratch: ScratchFiles
    let shareDrafts: ShareDrafts
    let shareEnding: ShareEnding

    init(
        _ ground: Ground, _ scratchRooms: ScratchRooms, shareDrafts: ShareDrafts,
        shareEnding: ShareEnding
    ) {
        handles = ground.handles
        nodes = ground.nodes
        options = ground.options
        scratch = scratchRooms.scratch
        self.shareDrafts = shareDrafts
        self.shareEnding = shareEnding
    }

    /// Returns whether closing a descriptor (flush) may save a share.
    func mayAskServer(closing number: HandleNumber) -> Bool {
        guard let handle = handles.open(number), handle.canWrite else {
            return false
        }
        switch handle.current {
        case .command(let buffer):
            if case .share = buffer.target { return true }
            return false
        case .scratch(_, let id): return scratch.scratchNodes.place(of: id)?.isOfShare == true
        case .record, .asset, .generated, .bytes, .errors, .share, .events, .directory: return false
        }
    }

    /// Returns whether the name belongs to a share: removing it, or giving it to a file, may need a
    /// request to the server.
    func mayAskServer(about name: [UInt8], in parent: NodeNumber) -> Bool {
        // The first byte already excludes most names.
        guard name.first == UInt8(ascii: "."), let node = nodes.find(parent),
            case .scratch(let place) = NameMeaning.plain(of: name, in: node)
        else { return false }
        return place.isOfShare
    }

    /// Ends the shares whose time has come, and shows others again. Called from its own thread,
    /// because the server may delay it.
    func endDueShares() {
        shareEnding.endShares(olderThan: options.clock.uptime)
        shareDrafts.showSharesAgain()
    }
}
