import Glibc
import RecordModel

/// The scratch files that the kernel knows, and the writes that failed in them.
///
/// A thread takes its lock before the lock of the nodes.
final class ScratchNodes: Sendable {
    private struct Known: CheckedState {
        var table = ScratchTable()
        /// Local files that could not take all the written data.
        var incomplete: [ScratchID: WriteFailure] = [:]

        var violations: [String] { table.violations }
        var size: Int { table.size }
    }

    let nodes: Nodes
    private let known = StateLock(Known())

    init(_ ground: Ground) {
        nodes = ground.nodes
    }

    // MARK: Places and routes

    func place(of id: ScratchID) -> ScratchPlace? { known.withLock { $0.table.place(of: id) } }

    /// Returns the mount's directory that contains a local file, also through other local
    /// directories.
    func base(of id: ScratchID) -> ScratchPlace.Directory? {
        known.withLock { known in
            var next = known.table.place(of: id)?.directory
            while case .scratch(let parent)? = next {
                next = known.table.place(of: parent)?.directory
            }
            return next
        }
    }

    func route(to place: ScratchPlace) -> ScratchRoute? {
        known.withLock { $0.table.route(to: place) }
    }

    func route(to directory: ScratchPlace.Directory) -> ScratchRoute? {
        known.withLock { $0.table.route(to: directory) }
    }

    /// Returns the route to a file, and the properties by which the host's file is recognised.
    func route(to id: ScratchID) -> (route: ScratchRoute, identity: HostIdentity?)? {
        known.withLock { known in
            known.table.route(to: id).map { ($0, known.table.identity(of: id)) }
        }
    }

    /// Returns the names in a directory that the kernel knows.
    func knownNames(in directory: ScratchPlace.Directory) -> [[UInt8]] {
        known.withLock { $0.table.knownNames(in: directory) }
    }

    // MARK: Files

    /// Returns the file of a name, whose status the host has given.
    func id(at place: ScratchPlace, is status: stat) -> ScratchID {
        known.withLock { $0.table.id(at: place, is: status) }
    }

    func id(at place: ScratchPlace) -> ScratchID { known.withLock { $0.table.id(at: place) } }

    /// Returns the file of a name when the kernel knows it.
    func knownID(at place: ScratchPlace) -> ScratchID? {
        known.withLock { $0.table.knownID(at: place) }
    }

    /// Notes the host's identity of a file that was reached by its id.
    func learn(_ identity: HostIdentity, of id: ScratchID) {
        known.withLock { $0.table.learn(identity, of: id) }
    }

    /// Notes that the host's file of an id has another name.
    func link(_ id: ScratchID, at place: ScratchPlace, is status: stat) -> ScratchID {
        known.withLock { known in
            known.table.learn(HostIdentity(status), of: id)
            return known.table.id(at: place, is: status)
        }
    }

    /// Returns the file of a name when the kernel has a node for it.
    func idInUse(at place: ScratchPlace) -> ScratchID? {
        known.withLock { known in
            guard let id = known.table.knownID(at: place), nodes.number(of: .scratch(id)) != nil
            else { return nil }
            return id
        }
    }

    /// Keeps a file when its names are removed, until `letGo` or until the kernel forgets it.
    func hold(_ id: ScratchID, by file: HostFile) {
        known.withLock { $0.table.hold(id, by: file) }
    }

    /// Ends the holding for a change of names: the file is found by its names again.
    func letGo(_ id: ScratchID) { known.withLock { $0.table.letGo(id) } }

    /// Notes that the kernel has dropped lookups of a node, and forgets a file without lookups.
    func forget(_ number: NodeNumber, count: UInt64) {
        known.withLock { known in
            guard case .scratch(let id)? = nodes.forget(number, count: count) else { return }
            known.table.forget(id)
            known.incomplete[id] = nil
        }
    }

    // MARK: Changes of names

    func noteRemoved(_ place: ScratchPlace) { known.withLock { $0.table.remove(place) } }

    func noteMoved(_ place: ScratchPlace, to target: ScratchPlace) {
        known.withLock { $0.table.move(place, to: target) }
    }

    func noteExchanged(_ place: ScratchPlace, _ other: ScratchPlace) {
        known.withLock { $0.table.swap(place, other) }
    }

    /// Notes that the kernel has moved the dentry of a record, a large field or a share to a local
    /// name, in place of the local file that had it.
    ///
    /// - Parameter number: the number of the file. Nil when the kernel does not know it.
    /// - Returns: the local file of the name.
    func take(_ place: ScratchPlace, from number: NodeNumber?) -> ScratchID {
        known.withLock { known in
            known.table.remove(place)
            return known.table.bind(place, number, nodes)
        }
    }

    /// Notes that the kernel has moved a dentry to a local name that is free.
    func bind(_ place: ScratchPlace, to number: NodeNumber?) -> ScratchID {
        known.withLock { $0.table.bind(place, number, nodes) }
    }

    /// Notes that a local file and a record have exchanged their names and contents.
    ///
    /// - Returns: the local file, which has another file of the host now.
    func swap(_ place: ScratchPlace, with record: Node, becoming new: Node) -> ScratchID {
        known.withLock { known in
            known.table.replaceHostFile(at: place)
            let id = known.table.id(at: place)
            nodes.swap(record, .scratch(id), as: new)
            return id
        }
    }

    // MARK: Programs and failed writes

    func writer(of id: ScratchID) -> Int32? { known.withLock { $0.table.writer(of: id) } }

    /// Returns the program that wrote the file of a name, when the kernel knows the file.
    func writer(at place: ScratchPlace) -> Int32? {
        known.withLock { known in
            known.table.knownID(at: place).flatMap { known.table.writer(of: $0) }
        }
    }

    func setWriter(_ program: Int32, of id: ScratchID) {
        known.withLock { $0.table.setWriter(program, of: id) }
    }

    /// Returns the failure of an incomplete file.
    func failure(at place: ScratchPlace) -> WriteFailure? {
        known.withLock { known in
            guard !known.incomplete.isEmpty, let id = known.table.knownID(at: place) else {
                return nil
            }
            return known.incomplete[id]
        }
    }

    func noteFailure(offset: Int64, count: Int, _ error: RecordError, in id: ScratchID) {
        known.withLock { known in
            known.incomplete[id].note(offset: offset, count: count, error)
        }
    }

    func noteWrite(offset: Int64, count: Int, in id: ScratchID) {
        known.withLock { known in
            guard !known.incomplete.isEmpty else { return }
            known.incomplete[id].noteWrite(offset: offset, count: count)
        }
    }

    func noteSize(_ size: Int64, of id: ScratchID) {
        known.withLock { $0.incomplete[id].noteSize(size) }
    }

    /// Forgets the failed writes of a file that an open has emptied.
    func beginAnew(_ id: ScratchID) { known.withLock { $0.incomplete[id] = nil } }
}

extension ScratchTable {
    fileprivate mutating func bind(_ place: ScratchPlace, _ number: NodeNumber?, _ nodes: Nodes)
        -> ScratchID
    {
        let id = id(at: place)
        if let number { nodes.rebind(number, to: .scratch(id)) }
        return id
    }
}
