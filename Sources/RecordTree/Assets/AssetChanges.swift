import Glibc
import RecordModel
import RecordStore

/// Follows the files of large fields when a commit has removed or moved them.
final class AssetChanges: Sendable {
    let assets: OpenAssets
    let kernel: KernelNotifier
    let options: TreeOptions
    let places: TypeDirectories
    let scratchNodes: ScratchNodes
    let store: RecordStore

    init(_ ground: Ground, _ scratchRooms: ScratchRooms, assets: OpenAssets) {
        self.assets = assets
        kernel = ground.kernel
        options = ground.options
        places = ground.places
        scratchNodes = scratchRooms.scratchNodes
        store = ground.store
    }

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
                    let open = assets.open(former.id), places.isOfOthers(change.zone)
                {
                    open.revoke()
                }
                let number = assets.loseName(former)
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
        kernel.deliver(heard)
        kernel.notify(names)
    }

    /// Returns the names of local files that the kernel knows and that look like names of large
    /// fields.
    private func namesBesideFields(in type: TypeID) -> [[UInt8]] {
        let names = scratchNodes.knownNames(in: .type(type))
        return names.filter {
            if case .asset = EntryName(classifying: $0) { true } else { false }
        }
    }

    /// Returns the notices for the assets of a record. They disappear when its delete becomes
    /// final, which the kernel does not see.
    func waitingAssetNotices(of change: StoreChange) -> [KernelNotice] {
        guard let record = change.record, let type = change.type else { return [] }
        switch change.kind {
        case .waiting:
            assets.keepWaiting(record, change.waitingAssets)
            return []
        case .deleted:
            return assets.endWait(of: record).map {
                .entry(parent: NodeNumber(type), name: $0.fileName)
            }
        case .created, .updated, .restored, .text, .draft:
            _ = assets.endWait(of: record)
            return []
        case .asset, .conflict, .pinned, .exchanged, .permission, .share, .zoneMade,
            .zoneRemoved, .typeMade, .typeRemoved:
            return []
        }
    }

    /// Moves open files of a record's large fields to the record's new name or place, on this
    /// machine or elsewhere.
    func followFields(of record: RecordID, to target: RecordID) {
        let open = assets.open(of: record)
        guard !open.isEmpty else { return }
        do throws(RecordError) {
            let files = try store.assets.assets(of: target)
            for open in open {
                let home = open.home
                guard let entry = files.first(where: home.isSameFile) else { continue }
                assets.follow(open, to: entry)
            }
        } catch {
            options.report(
                "A program does not follow its open large field, which was moved: \(error)")
        }
    }
}
