import Glibc
import RecordModel
import RecordStore
import RecordStoreSync
import RecordTree
import TestSupport
import Testing

extension TreeFuzzer {
    func performOnDirectory(_ operation: Operation) throws(RecordError) {
        switch operation {
        case .makeDirectory:
            found(
                try tree.makeDirectory(
                    parent: directory(), name: random.name(),
                    mode: UInt32(truncatingIfNeeded: random.number())))
        case .removeDirectory:
            // The place where saves are checked stays.
            let name = random.name()
            guard name != "Box".b, name != "Note".b else { return }
            try tree.removeDirectory(parent: directory(), name: name)
        case .makeSymlink:
            found(
                try tree.makeSymlink(
                    parent: directory(), name: random.name(), target: random.name()))
        case .makeNode:
            let kind = random.pick([S_IFREG, S_IFIFO, S_IFCHR, 0])
            found(
                try tree.makeNode(
                    parent: directory(), name: random.name(), mode: UInt32(kind) | 0o644,
                    caller: caller()))
        case .remove:
            let (parent, name) = (directory(), random.name())
            note("remove \(parent) \(String(decoding: name, as: UTF8.self))")
            try tree.remove(parent: parent, name: name, caller: caller())
        case .rename:
            let flags = random.pick([0, 0, 0, 1, 2, 3, 4, UInt32.max])
            let (parent, name, target, newName) = (
                directory(), random.name(), directory(), random.name()
            )
            note(
                "rename \(parent) \(String(decoding: name, as: UTF8.self)) to \(target) "
                    + "\(String(decoding: newName, as: UTF8.self)) \(flags)")
            try tree.rename(
                parent: parent, name: name, newParent: target, newName: newName, flags: flags)
        case .openDirectory: opened(try tree.openDirectory(directory()))
        case .list: try list()
        default: try tree.synchronizeDirectory(directory())
        }
    }

    private func list() throws(RecordError) {
        let cookie = random.chance(2) ? 0 : UInt64(bitPattern: random.number())
        let stop = random.below(30)
        var count = 0
        var taken: [NodeEntry] = []
        try tree.list(handle(), from: cookie) { listed in
            count += 1
            guard count <= stop else { return false }
            taken.append(listed.entry)
            return true
        }
        for entry in taken {
            tree.didList(entry)
            found(entry)
        }
    }

    func performOnAttributes(_ operation: Operation) throws(RecordError) {
        let names = [
            "user.recordfs.name", "user.recordfs.state", "user.x", "system.posix_acl_access", "",
            "trusted.x", String(repeating: "user.", count: 80),
        ]
        let name = random.chance(5) ? random.name() : Array(random.pick(names).utf8)
        switch operation {
        case .attribute: _ = try tree.attribute(name, of: anyNode())
        case .attributeNames: _ = try tree.attributeNames(of: anyNode())
        case .setAttribute:
            let value = random.chance(3) ? Array("retry".utf8) : random.bytes(atMost: 100)
            try tree.setAttribute(
                name, of: anyNode(), to: value, flags: Int32(truncatingIfNeeded: random.number()))
        default: try tree.removeAttribute(name, of: anyNode())
        }
    }

    /// A change that a server reports.
    func receive() throws(RecordError) {
        guard let zone = try fixture.store.zone(.private, .me, ZoneName("Box")) else { return }
        let asset = AssetValue(
            fileName: "a@photo.jpg", size: abs(random.hostNumber().addingClamped(1)),
            sha256: ContentHash(hex: String(repeating: "cd", count: 32)))
        let fields = [
            RecordField(name: FieldName("title"), value: .string(Text("remote"))),
            RecordField(name: FieldName("photo"), value: .asset(asset)),
        ]
        let name = RecordName(random.pick(["a", "b", "e"]))
        let update = RemoteChange(
            type: RecordTypeName("Note"), name: name, operation: .upsert(fields, parent: nil),
            changeTag: "t\(random.below(9))",
            created: Timestamp(seconds: random.number()),
            modified: Timestamp(seconds: random.number(), nanoseconds: random.number()))
        let change = random.chance(3) ? RemoteChange(deleted: name) : update
        note("receive \(change)")
        try fixture.store.write(author: .sync) { transaction throws(RecordError) in
            _ = try transaction.feed.applyRemote(change, in: zone.id)
        }
    }

    /// The clock goes on, and sometimes anywhere.
    func passTime() throws(RecordError) {
        if random.chance(4) {
            fixture.clock.set(Timestamp(seconds: random.number(), nanoseconds: random.number()))
        } else {
            fixture.clock.advance(.seconds(random.below(100)))
        }
        _ = try tree.maintain()
        _ = try tree.figures(of: anyNode())
    }

    /// A reader of the stream of events, who waits and is gone again.
    func wait() throws(RecordError) {
        var node = NodeNumber.root
        for name in [".recordfs", "events"] {
            guard let entry = try tree.lookup(parent: node, name: name.b, caller: TreeFixture.user)
            else { return }
            node = entry.node
        }
        let made = try tree.open(node, flags: O_RDONLY, caller: TreeFixture.user)
        opened(made)
        if case .deferred(let start) = try tree.read(made.handle, offset: 0, count: random.count())
        {
            waits.append(start { _ in })
        }
    }
}
