import RecordModel
import Synchronization

/// Decides which calls may ask the record server before they are answered. Such a call must not run
/// on a thread that reads the kernel's calls, because the server may delay it.
extension Tree {
    /// Returns whether closing a descriptor (flush) may save a share.
    package func mayAskServer(closing number: HandleNumber) -> Bool {
        guard let handle = state.withLock({ $0.handles[number] }), handle.canWrite else {
            return false
        }
        switch handle.current {
        case .command(let buffer):
            if case .share = buffer.target { return true }
            return false
        case .scratch(_, let id): return place(of: id)?.isOfShare == true
        case .record, .asset, .generated, .bytes, .errors, .share, .events, .directory: return false
        }
    }

    /// Returns whether the name belongs to a share: removing it, or giving it to a file, may need a
    /// request to the server.
    package func mayAskServer(about name: [UInt8], in parent: NodeNumber) -> Bool {
        // The first byte already excludes most names.
        guard name.first == UInt8(ascii: "."), let node = state.withLock({ $0.nodes.node(parent) }),
            case .scratch(let place) = plainMeaning(of: name, in: node)
        else { return false }
        return place.isOfShare
    }

    /// Ends the shares whose time has come, and shows others again. Called from its own thread,
    /// because the server may delay it.
    package func endDueShares() {
        endShares(olderThan: options.clock.uptime)
        showSharesAgain()
    }
}
