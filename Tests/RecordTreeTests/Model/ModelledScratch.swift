import Glibc
import RecordModel
import RecordStore
import RecordTree
import TestSupport
import Testing

/// A directory of this machine beside a model of ext4, with a kernel that drops nodes.
final class ModelledScratch {
    private let fixture: TreeFixture
    private var model = ScratchModel()
    private var base: NodeNumber
    private var handles: [ScratchStep.Slot: HandleNumber] = [:]
    /// The files that are or were open, also without a name.
    private var openNodes: Set<NodeNumber> = []
    /// The lookups that the kernel holds, and where it has found each node last.
    private var held: [NodeNumber: (count: UInt64, depth: Int)] = [:]
    private(set) var taken = 0

    init() throws {
        fixture = try TreeFixture()
        base = try fixture.tree.makeDirectory(parent: fixture.notes, name: "d".b, mode: 0o755).node
    }

    func run(_ steps: some Sequence<ScratchStep>) throws -> String? {
        for step in steps {
            var next = model
            let expected = next.apply(step)
            if expected == .left { continue }
            taken += 1
            let got = try StepOutcome { try perform(step) }
            guard got == expected else { return "\(step): expected \(expected), got \(got)" }
            model = next
            if let difference = try difference() { return "\(step): \(difference)" }
        }
        return nil
    }

    // MARK: The kernel

    private func note(_ entry: NodeEntry, depth: Int) -> NodeNumber {
        held[entry.node, default: (0, depth)].count += 1
        held[entry.node]?.depth = depth
        return entry.node
    }

    /// Walks as the kernel does, and holds what it finds.
    private func find(_ path: some Collection<String>) throws -> NodeNumber? {
        var node = base
        for (depth, name) in path.enumerated() {
            guard let entry = try fixture.lookup(name, in: node) else { return nil }
            node = note(entry, depth: depth)
        }
        return node
    }

    private func place(_ path: ScratchStep.Path) throws -> (parent: NodeNumber, name: [UInt8]) {
        (try #require(try find(path.dropLast())), try #require(path.last).b)
    }

    /// Drops the nodes that nothing needs: the kernel holds the directories of what is open.
    private func forget() throws {
        var needed = openNodes
        for path in handles.keys.compactMap({ model.handles[$0] }).flatMap(paths(of:)) {
            for length in 0...path.count {
                if let node = try find(path.prefix(length)) { needed.insert(node) }
            }
        }
        for (node, it) in held.sorted(by: { $0.value.depth > $1.value.depth })
        where !needed.contains(node) {
            fixture.tree.forget(node, count: it.count)
            held[node] = nil
        }
    }

    private func paths(of inode: Int) -> [ScratchStep.Path] {
        func paths(in directory: Int, _ path: ScratchStep.Path) -> [ScratchStep.Path] {
            (model.inodes[directory]?.children ?? [:]).flatMap { name, id in
                (id == inode ? [path + [name]] : []) + paths(in: id, path + [name])
            }
        }
        return paths(in: 0, [])
    }

    // MARK: Calls

    private func perform(_ step: ScratchStep) throws {
        let tree = fixture.tree
        switch step {
        case .create(let path):
            let (parent, name) = try place(path)
            let (entry, made) = try tree.create(
                parent: parent, name: name, mode: 0o644, flags: O_WRONLY | O_EXCL,
                caller: TreeFixture.user)
            _ = note(entry, depth: path.count - 1)
            tree.release(made.handle)
        case .makeDirectory(let path):
            let (parent, name) = try place(path)
            _ = note(
                try tree.makeDirectory(parent: parent, name: name, mode: 0o755),
                depth: path.count - 1)
        case .symlink(let path, let target):
            let (parent, name) = try place(path)
            _ = note(
                try tree.makeSymlink(parent: parent, name: name, target: target.b),
                depth: path.count - 1)
        case .write(let path, let text):
            let node = try #require(try find(path))
            let flags = O_WRONLY | O_TRUNC
            let handle = try tree.open(node, flags: flags, caller: TreeFixture.user).handle
            try fixture.write(text, to: handle)
            tree.release(handle)
        case .open(let slot, let path):
            let node = try #require(try find(path))
            handles[slot] = try tree.open(node, flags: O_RDWR, caller: TreeFixture.user).handle
            openNodes.insert(node)
        case .writeOpen(let slot, let text):
            try fixture.write(text, to: #require(handles[slot]))
        case .close(let slot):
            tree.release(try #require(handles[slot]))
            handles[slot] = nil
            if handles.isEmpty { openNodes = [] }
        case .forget: try forget()
        case .remount:
            for handle in handles.values { tree.release(handle) }
            (handles, held, openNodes) = ([:], [:], [])
            try fixture.remount()
            base = try #require(try fixture.lookup("d")).node
        default: try performOnNames(step)
        }
    }

    private func performOnNames(_ step: ScratchStep) throws {
        let tree = fixture.tree
        switch step {
        case .link(let path, let other):
            let source = try #require(try find(path))
            let (parent, name) = try place(other)
            _ = note(
                try tree.link(source, newParent: parent, newName: name), depth: other.count - 1)
        case .rename(let path, let other): try rename(path, other, 0)
        case .renameNoReplace(let path, let other): try rename(path, other, 1)
        case .exchange(let path, let other): try rename(path, other, 2)
        case .remove(let path):
            let (parent, name) = try place(path)
            try tree.remove(parent: parent, name: name, caller: TreeFixture.user)
        case .removeDirectory(let path):
            let (parent, name) = try place(path)
            try tree.removeDirectory(parent: parent, name: name)
        default: break
        }
    }

    private func rename(
        _ path: ScratchStep.Path, _ other: ScratchStep.Path, _ flags: UInt32
    ) throws {
        let (source, target) = (try place(path), try place(other))
        try fixture.tree.rename(
            parent: source.parent, name: source.name, newParent: target.parent,
            newName: target.name, flags: flags, caller: TreeFixture.user)
    }

    // MARK: What is shown

    private func difference() throws -> String? {
        var inodes: [UInt64: Int] = [:]
        if let difference = try difference(in: 0, base, [], &inodes) { return difference }
        for (slot, handle) in handles {
            guard let id = model.handles[slot], case .file(let text)? = model.inodes[id] else {
                return "no handle \(slot)"
            }
            let read = try fixture.read(handle)
            guard read == text else { return "handle \(slot) reads \(read), not \(text)" }
        }
        return nil
    }

    private func difference(
        in directory: Int, _ node: NodeNumber, _ path: ScratchStep.Path,
        _ inodes: inout [UInt64: Int]
    ) throws -> String? {
        let children = model.inodes[directory]?.children ?? [:]
        let names = try fixture.names(in: node)
        guard names == children.keys.sorted() else {
            return "\(path) lists \(names), not \(children.keys.sorted())"
        }
        for (name, id) in children.sorted(by: { $0.key < $1.key }) {
            guard let entry = try fixture.lookup(name, in: node) else {
                return "\(path + [name]) is listed and not found"
            }
            let child = note(entry, depth: path.count)
            if let other = inodes.updateValue(id, forKey: entry.attributes.inode), other != id {
                return "\(path + [name]) has the inode of another file"
            }
            if let difference = try difference(of: id, entry, path + [name]) {
                return "\(path + [name]) \(difference)"
            }
            if model.inodes[id]?.children != nil,
                let difference = try difference(in: id, child, path + [name], &inodes)
            {
                return difference
            }
        }
        return nil
    }

    private func difference(
        of id: Int, _ entry: NodeEntry, _ path: ScratchStep.Path
    ) throws -> String? {
        let kind = entry.attributes.mode & UInt32(S_IFMT)
        switch model.inodes[id] {
        case .directory: return kind == UInt32(S_IFDIR) ? nil : "is no directory"
        case .symlink(let target):
            guard kind == UInt32(S_IFLNK) else { return "is no symlink" }
            let read = try fixture.tree.target(ofSymlink: entry.node)
            return read == target.b ? nil : "leads to \(read), not \(target)"
        case .file(let text):
            let links = entry.attributes.links
            guard kind == UInt32(S_IFREG), links == model.links(id) else {
                return "has \(links) links, not \(model.links(id))"
            }
            let handle = try fixture.tree.open(
                entry.node, flags: O_RDONLY, caller: TreeFixture.user
            ).handle
            defer { fixture.tree.release(handle) }
            let read = try fixture.read(handle)
            return read == text && entry.attributes.size == text.utf8.count
                ? nil : "reads \(read), not \(text)"
        case nil: return "is not in the model"
        }
    }
}
