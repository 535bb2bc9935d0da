import RecordModel
import RecordStore

/// Notices about names that belong to other files now.
final class NodeNotices: Sendable {
    let kernel: KernelNotifier
    let nodes: Nodes

    init(kernel: KernelNotifier, nodes: Nodes) {
        self.kernel = kernel
        self.nodes = nodes
    }

    /// Makes the kernel look the name up again before it answers from the old file: that file can
    /// no longer be opened, and its attributes are dropped before the current call is answered. The
    /// name itself is dropped later, because the current call may hold the lock of its directory.
    func nameReplaced(_ type: TypeID, _ stem: Stem, _ old: RecordFile) {
        guard let number = nodes.number(of: .record(old)) else { return }
        kernel.deliver([.content(number)])
        kernel.notify([.replaced(parent: NodeNumber(type), name: stem.fileName, old: number)])
    }

    /// Makes the kernel forget the name of a local file or a share, which belongs to another file
    /// now, or to none.
    func nameChanged(_ place: ScratchPlace) {
        guard let parent = nodes.number(ofDirectory: place.directory) else { return }
        kernel.notify([.entry(parent: parent, name: place.name), .content(parent)])
    }
}
