import RecordModel
import Synchronization

/// Which calls may ask the record server before they are answered: none of them is for a thread that
/// reads the kernel's calls, for the server may let it wait.
extension Tree {
    /// Whether the end of a descriptor (flush) may save what is shared.
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

    /// Whether the name is that of a share: who removes it, or gives it to a file, may have to ask.
    package func mayAskServer(about name: [UInt8], in parent: NodeNumber) -> Bool {
        // Most names are told by their first byte.
        guard name.first == UInt8(ascii: "."), let node = state.withLock({ $0.nodes.node(parent) }),
            case .scratch(let place) = plainMeaning(of: name, in: node)
        else { return false }
        return place.isOfShare
    }

    /// Ends the shares whose time has come; called from a thread of its own, for the server may let it
    /// wait.
    package func endDueShares() { endShares(olderThan: options.clock.uptime) }
}
