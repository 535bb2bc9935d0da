import Glibc
import RecordModel
import RecordTree
import TestSupport

/// The calls of programs, as the kernel makes them: names that it holds are not looked up again.
extension KernelWalk {
    func perform(_ step: KernelStep) throws {
        switch step {
        case .put(let place, let text): if let name = try name(place) { try put(text, as: name) }
        case .remove(let place):
            guard let name = try name(place), let node = try find(name) else { return }
            try fixture.tree.remove(
                parent: name.parent, name: name.name.b, caller: TreeFixture.user)
            noteRemoved(name, node)
        case .rename(let place, let other):
            guard let name = try name(place), let newName = try self.name(other) else { return }
            try rename(name, to: newName, flags: 0)
        case .exchange(let place, let other):
            guard let name = try name(place), let newName = try self.name(other) else { return }
            try rename(name, to: newName, flags: 2)
        case .link(let place, let other): try link(place, other)
        case .makeDirectory(let place):
            guard let name = try name(place), try find(name) == nil else { return }
            let entry = try fixture.tree.makeDirectory(
                parent: name.parent, name: name.name.b, mode: 0o755)
            noteMade(entry, name)
        case .removeDirectory(let place):
            guard let name = try name(place), let node = try find(name) else { return }
            try fixture.tree.removeDirectory(parent: name.parent, name: name.name.b)
            noteRemoved(name, node)
        case .hold(let place):
            guard let name = try name(place), let node = try find(name) else { return }
            try hold(node)
        case .close: closeAll()
        case .touch(let place):
            var changes = NodeChanges()
            changes.modified = .at(Timestamp(seconds: 1_000_000_000))
            if let name = try name(place), let node = try find(name) { try set(changes, of: node) }
        case .truncate(let place, let size):
            var changes = NodeChanges()
            changes.size = Int64(size)
            if let name = try name(place), let node = try find(name) { try set(changes, of: node) }
        case .removeError(let index):
            guard let directory = try fixture.find(".recordfs/errors")?.node else { return }
            let names = try fixture.names(in: directory)
            guard !names.isEmpty else { return }
            try fixture.tree.remove(
                parent: directory, name: names[index % names.count].b, caller: TreeFixture.user)
        case .restoreByMove(let place, let index): try restore(place, index)
        case .pass(let seconds):
            fixture.clock.advance(.seconds(seconds))
            try fixture.maintain()
        case .look, .list, .getAttributes, .read, .evict, .ask: try ask(step)
        default: try change(step)
        }
    }

    func noteMade(_ entry: NodeEntry, _ name: HeldNames.Name) {
        note(entry, name)
        held.dropContent(of: name.parent)
    }

    func noteRemoved(_ name: HeldNames.Name, _ node: NodeNumber) {
        held.drop(name)
        held.dropContent(of: node)
        held.dropContent(of: name.parent)
    }

    func put(_ text: String, as name: HeldNames.Name) throws {
        let handle: HandleNumber
        let node: NodeNumber
        if let found = try find(name) {
            node = found
            handle =
                try fixture.tree.open(
                    node, flags: O_WRONLY | O_TRUNC, caller: TreeFixture.user
                ).handle
        } else {
            let (entry, opened) = try fixture.tree.create(
                parent: name.parent, name: name.name.b, mode: 0o644, flags: O_WRONLY | O_TRUNC,
                caller: TreeFixture.user)
            noteMade(entry, name)
            (node, handle) = (entry.node, opened.handle)
        }
        held.opened[node, default: 0] += 1
        defer {
            fixture.tree.release(handle)
            held.opened[node] = held.opened[node].flatMap { $0 > 1 ? $0 - 1 : nil }
            held.dropContent(of: node)
        }
        if !text.isEmpty { try fixture.write(text, to: handle) }
        try fixture.tree.flush(handle)
    }

    func rename(
        _ name: HeldNames.Name, to newName: HeldNames.Name, flags: UInt32
    ) throws {
        guard name != newName, let node = try find(name) else { return }
        let target = try find(newName)
        // The kernel asks nothing when both names are one file.
        guard target != node, flags == 0 || target != nil else { return }
        try fixture.tree.rename(
            parent: name.parent, name: name.name.b, newParent: newName.parent,
            newName: newName.name.b, flags: flags, caller: TreeFixture.user)
        if flags == 2 {
            held.exchange(name, with: newName)
        } else {
            held.move(name, to: newName)
        }
    }

    /// Moves a record out of the trash to its own name.
    private func restore(_ place: KernelStep.Place, _ index: Int) throws {
        let path = ".recordfs/trash/private/Box/\(place.type)"
        guard let directory = try fixture.find(path)?.node else { return }
        let names = try fixture.names(in: directory)
        guard !names.isEmpty else { return }
        let trashed = names[index % names.count]
        guard let newName = try name(place) else { return }
        _ = try find(newName)
        _ = try fixture.lookup(trashed, in: directory)
        try fixture.tree.rename(
            parent: directory, name: trashed.b, newParent: newName.parent,
            newName: newName.name.b, flags: 0, caller: TreeFixture.user)
        held.move(HeldNames.Name(parent: directory, name: trashed), to: newName)
    }

    private func link(_ place: KernelStep.Place, _ other: KernelStep.Place) throws {
        guard let name = try name(place), let newName = try self.name(other),
            let node = try find(name), try find(newName) == nil
        else { return }
        let entry = try fixture.tree.link(
            node, newParent: newName.parent, newName: newName.name.b)
        note(entry, newName)
        held.dropContent(of: node)
        held.dropContent(of: newName.parent)
    }

    func set(_ changes: NodeChanges, of node: NodeNumber) throws {
        let (shown, isCacheable) = try fixture.tree.setAttributes(of: node, changes, handle: nil)
        held.dropContent(of: node)
        if isCacheable { held.keep(shown, of: node) }
    }

    private func ask(_ step: KernelStep) throws {
        switch step {
        case .look(let place): if let name = try name(place) { _ = try find(name) }
        case .list(let type): if let directory = try directory(type) { try list(directory) }
        case .getAttributes(let place):
            if let name = try name(place), let node = try find(name) { try getAttributes(node) }
        case .read(let place):
            if let name = try name(place), let node = try find(name) { try read(node) }
        case .evict(let place): if let name = try name(place) { held.drop(name) }
        case .ask:
            try list(zone)
            try getAttributes(zone)
            for type in Set(KernelStep.types) {
                guard let directory = try directory(type) else { continue }
                try getAttributes(directory)
                for name in KernelStep.files + KernelStep.others {
                    let name = HeldNames.Name(parent: directory, name: name)
                    guard let node = try find(name) else { continue }
                    try getAttributes(node)
                    try read(node)
                }
            }
        default: return
        }
    }
}
