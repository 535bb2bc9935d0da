import Glibc
import RecordModel
import RecordStore
import RecordStoreSync
import RecordTree
import TestSupport

/// The zones and record types of a tree beside the memory of a kernel.
final class PlaceWalk {
    let kernel: KernelWalk
    private var fixture: TreeFixture { kernel.fixture }

    init(isWatched: Bool) throws { kernel = try KernelWalk(isWatched: isWatched) }

    /// Takes the steps. Returns what the kernel remembers wrongly after the first such step.
    func run(_ steps: some Sequence<PlaceStep>) throws -> String? {
        for step in steps {
            if let difference = try kernel.take(step, { try perform(step) }) { return difference }
        }
        return nil
    }

    // MARK: Names

    private func find(_ path: PlaceStep.Path) throws -> NodeNumber? {
        try path.reduce(NodeNumber.root as NodeNumber?) { node, name in
            try node.flatMap { try kernel.find(HeldNames.Name(parent: $0, name: name)) }
        }
    }

    /// The name in its directory, or nil when that is not there.
    private func name(_ path: PlaceStep.Path) throws -> HeldNames.Name? {
        guard let last = path.last else { return nil }
        return try find(path.dropLast()).map { HeldNames.Name(parent: $0, name: last) }
    }

    private func zone(_ path: PlaceStep.Path) throws -> ZoneInfo? {
        let database: Database = path[0] == "private" ? .private : .shared
        let owner = database == .private ? OwnerName.me : OwnerName(path[1])
        let name = path[database == .private ? 1 : 2]
        return try fixture.store.zone(database, owner, ZoneName(name))
    }

    private func type(_ path: PlaceStep.Path) throws -> TypeID? {
        guard let zone = try zone(path), let name = path.last else { return nil }
        return try fixture.store.type(zone.id, RecordTypeName(name))?.id
    }

    private func write(
        isByServer: Bool = true, _ body: (Transaction) throws(RecordError) -> Void
    ) throws {
        try fixture.store.write(author: isByServer ? .sync : .commandLine, body)
    }

    // MARK: Steps

    private func perform(_ step: PlaceStep) throws {
        switch step {
        case .makeDirectory(let path):
            guard let name = try name(path), try kernel.find(name) == nil else { return }
            let entry = try fixture.tree.makeDirectory(
                parent: name.parent, name: name.name.b, mode: 0o755)
            kernel.noteMade(entry, name)
        case .removeDirectory(let path):
            guard let name = try name(path), let node = try kernel.find(name) else { return }
            try fixture.tree.removeDirectory(parent: name.parent, name: name.name.b)
            kernel.noteRemoved(name, node)
        case .put(let path): if let name = try name(path) { try kernel.put("{}", as: name) }
        case .remove(let path):
            guard let name = try name(path), let node = try kernel.find(name) else { return }
            try fixture.tree.remove(
                parent: name.parent, name: name.name.b, caller: TreeFixture.user)
            kernel.noteRemoved(name, node)
        case .rename(let path, let other):
            guard !other.starts(with: path), !path.starts(with: other), let name = try name(path),
                let newName = try self.name(other)
            else { return }
            try kernel.rename(name, to: newName, flags: 0)
        case .touch(let path):
            guard let node = try find(path) else { return }
            var changes = NodeChanges()
            changes.modified = .at(Timestamp(seconds: 1_000_000_000))
            try kernel.set(changes, of: node)
        case .pass:
            fixture.clock.advance(.seconds(4))
            try fixture.maintain()
        case .look(let path): _ = try find(path)
        case .list(let path): if let node = try find(path) { try kernel.list(node) }
        case .evict(let path): if let name = try name(path) { kernel.held.drop(name) }
        case .ask:
            for path in PlaceStep.all {
                if let node = try find(path) { try kernel.getAttributes(node) }
            }
            for path in PlaceStep.above { if let node = try find(path) { try kernel.list(node) } }
        default: try change(step)
        }
    }

    private func change(_ step: PlaceStep) throws {
        switch step {
        case .makeZone(let path):
            let (isOwn, name) = (path[0] == "private", ZoneName(path[path.count - 1]))
            let owner = isOwn ? OwnerName.me : OwnerName(path[1])
            try write { transaction throws(RecordError) in
                _ = try transaction.makeZone(isOwn ? .private : .shared, owner, name)
            }
        case .removeZone(let path, let isByServer):
            guard let zone = try zone(path), path != ["private", "Box"] else { return }
            try write(isByServer: isByServer) { transaction throws(RecordError) in
                guard isByServer else { return try transaction.removeZone(zone.id) }
                try transaction.feed.removeZoneOfServer(zone.id)
            }
        case .makeType(let path, let isByServer):
            guard let zone = try zone(path) else { return }
            let name = RecordTypeName(path[path.count - 1])
            try write(isByServer: isByServer) { transaction throws(RecordError) in
                _ = try transaction.makeType(zone.id, name)
            }
        case .removeType(let path, let isByServer):
            guard let type = try type(path) else { return }
            try write(isByServer: isByServer) { transaction throws(RecordError) in
                try transaction.removeType(type)
            }
        case .save(let path):
            guard let type = try type(path) else { return }
            try write { transaction throws(RecordError) in
                _ = try transaction.records.save(
                    text: #"{"n":1}"#.b, type: type, stem: Stem("n"))
            }
        case .setPermission(let path, let isReadOnly):
            guard let zone = try zone(path) else { return }
            try write { transaction throws(RecordError) in
                try transaction.setPermission(isReadOnly ? .readOnly : .readWrite, of: zone.id)
            }
        default: try changeShare(step)
        }
    }

    private func changeShare(_ step: PlaceStep) throws {
        switch step {
        case .share(let path, let hasRoot):
            guard let zone = try zone(path) else { return }
            let share = Share(
                name: RecordName(hasRoot ? "record" : "zone"),
                root: hasRoot ? RecordName("n") : nil, permission: .readWrite, text: "{}".b)
            try write { transaction throws(RecordError) in
                try transaction.sharing.noteShare(share, of: zone.id)
            }
        case .endShare(let path, let hasRoot):
            guard let zone = try zone(path) else { return }
            try write { transaction throws(RecordError) in
                try transaction.sharing.noteShareEnded(
                    RecordName(hasRoot ? "record" : "zone"), of: zone.id)
            }
        default: return
        }
    }
}
