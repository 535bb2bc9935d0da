import Glibc
import RecordModel
import RecordStore
import RecordTree
import Synchronization
import TestSupport
import Testing

/// A tree whose record server is a list of answers: what it was asked stays to be read.
final class ShareFixture {
    final class Server: Sendable {
        private struct State {
            var asked: [String] = []
            var refusals: [String: RecordError] = [:]
        }
        private let state = Mutex(State())

        /// The questions since the last call of this.
        func take() -> [String] {
            state.withLock { state in
                defer { state.asked = [] }
                return state.asked
            }
        }

        /// - Parameter order: save, check or end.
        func refuse(_ order: String, with code: RecordError.Code?) {
            state.withLock {
                $0.refusals[order] = code.map { RecordError($0, "the server says no") }
            }
        }

        fileprivate func answer(_ order: ServerBridge.ShareOrder) throws(RecordError) {
            let (name, line) =
                switch order {
                case .save(let text): ("save", "save " + String(decoding: text, as: UTF8.self))
                case .check: ("check", "check")
                case .end: ("end", "end")
                }
            let refusal = state.withLock { state in
                state.asked.append(line)
                return state.refusals[name]
            }
            if let refusal { throw refusal }
        }
    }

    let server = Server()
    let tree: TreeFixture
    let zone: ZoneID
    /// Below the mount.
    let directory: String

    /// A zone of this user, or one that others share, with the record n.
    init(in database: Database = .private) throws {
        let server = server
        tree = try TreeFixture(
            server: ServerBridge(
                status: { nil }, run: { (_) throws(RecordError) in },
                share: { (order, _) throws(RecordError) in try server.answer(order) }))
        tree.observe()
        guard database == .shared else {
            (zone, directory) = (try tree.box.id, "private/Box")
            try tree.put(#"{"n":1}"#, as: "n.json")
            return
        }
        (zone, directory) = try tree.store.write(author: .sync) { transaction throws(RecordError) in
            let zone = try transaction.makeZone(.shared, OwnerName("olga"), ZoneName("Box"))
            let type = try transaction.makeType(zone.id, RecordTypeName("Note")).id
            for name in ["n", "m"] {
                _ = try transaction.records.save(
                    text: Array(#"{"n":1}"#.utf8), type: type, stem: Stem(name))
            }
            return (zone.id, "shared/olga/Box")
        }
    }

    static let text = #"{"url":"https://s/1","title":"Box"}"#

    /// The server has told of a share: of the zone, or of a record.
    func share(_ root: String? = nil, text: String = text) throws {
        try tree.store.write(author: .sync) { [zone] transaction throws(RecordError) in
            try transaction.sharing.noteShare(
                Share(
                    name: RecordName("share"), root: root.map { RecordName($0) },
                    permission: .readWrite, text: text.b), of: zone)
        }
    }

    func place(_ path: String) throws -> (parent: NodeNumber, name: String) {
        let parts = path.split(separator: "/").map(String.init)
        let parent = ([directory] + parts.dropLast()).joined(separator: "/")
        return (try #require(try tree.find(parent)).node, try #require(parts.last))
    }

    func open(_ path: String, _ flags: Int32 = O_WRONLY | O_TRUNC) throws -> HandleNumber {
        let (parent, name) = try place(path)
        if let entry = try tree.lookup(name, in: parent) {
            return try tree.tree.open(entry.node, flags: flags, caller: TreeFixture.user).handle
        }
        return try tree.tree.create(
            parent: parent, name: name.b, mode: 0o644, flags: flags, caller: TreeFixture.user
        ).1.handle
    }

    func write(_ text: String, to path: String) throws {
        let handle = try open(path)
        defer { tree.tree.release(handle) }
        try tree.write(text, to: handle)
        try tree.tree.flush(handle)
    }

    /// It is nil where there is none.
    func read(_ path: String) throws -> String? {
        guard try tree.find("\(directory)/\(path)") != nil else { return nil }
        let handle = try open(path, O_RDONLY)
        defer { tree.tree.release(handle) }
        return try tree.read(handle)
    }

    func rename(_ path: String, to newPath: String) throws {
        let (source, target) = (try place(path), try place(newPath))
        try tree.tree.rename(
            parent: source.parent, name: source.name.b, newParent: target.parent,
            newName: target.name.b, flags: 0, caller: TreeFixture.user)
    }

    func remove(_ path: String, by caller: Requester = TreeFixture.user) throws {
        let (parent, name) = try place(path)
        try tree.tree.remove(parent: parent, name: name.b, caller: caller)
    }

    func pass(_ seconds: Int64) throws {
        tree.clock.advance(.seconds(seconds))
        try tree.maintain()
    }
}
