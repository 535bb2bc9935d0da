import RecordModel
import RecordStore
import Synchronization

extension Tree {
    /// Handles asset files that have lost their names. Programs that have such a file open keep it.
    /// A name that the kernel still holds for the file leads nowhere, so that the kernel looks it
    /// up again.
    ///
    /// The kernel forgets the attributes of these files before the change returns. It forgets their
    /// names when the directory is free, which may be later. Until then they answer ESTALE, and the
    /// kernel repeats the call with the name.
    func assetNamesChanged(_ changes: [StoreChange]) {
        var heard: [KernelNotice] = []
        var names: [KernelNotice] = []
        for change in changes where !change.assetNames.isEmpty {
            for former in change.assetNames.former {
                if change.author == .sync, former.isGone,
                    let open = state.withLock({ $0.assets[former.id] }), isOfOthers(change.zone)
                {
                    open.revoke()
                }
                let number = state.withLock { $0.loseName(former) }
                if let number { heard.append(.content(number)) }
                names.append(.entry(parent: NodeNumber(former.type), name: former.name))
            }
            for type in change.assetNames.directories {
                heard.append(.content(NodeNumber(type)))
                // The field may have a new file under the name of a local file.
                names += namesBesideFields(in: type).map {
                    .entry(parent: NodeNumber(type), name: $0)
                }
            }
        }
        guard !heard.isEmpty else { return }
        deliver(heard)
        notify(names)
    }
}

extension Tree {
    /// Returns the names of local files that the kernel knows and that look like names of large
    /// fields.
    private func namesBesideFields(in type: TypeID) -> [[UInt8]] {
        let names = state.withLock { $0.scratch.knownNames(in: .type(type)) }
        return names.filter {
            if case .asset = EntryName(classifying: $0) { true } else { false }
        }
    }
}

extension Tree.State {
    /// Takes the name from an asset file. Returns the number that the kernel may have for the file.
    fileprivate mutating func loseName(_ former: FormerAsset) -> NodeNumber? {
        let number = nodes.disown(.asset(former.id))
        if let open = assets[former.id] {
            if let number { detached[number] = .asset(open) }
            if former.isGone { assets[former.id] = nil }
        }
        if former.isGone { nodes.forgetEpoch(of: .asset(former.id)) }
        return number
    }
}
