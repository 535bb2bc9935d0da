import Glibc
import RecordModel

/// The real files behind scratch names: one directory of the host for each directory of the mount.
///
/// Names, modes, times, links and locks are those of the host, so that scratch can do everything
/// that the host's file system can.
struct ScratchStorage: Sendable {
    /// The state directory. Nil when it could not be opened.
    private let state: HostFile?

    /// The `scratch` directory of the state directory.
    static let root = Array("scratch".utf8)

    init(stateDirectory: String) {
        let path = Array(stateDirectory.utf8)
        let descriptor = withPath(path) { open($0, pathOnly | O_DIRECTORY | O_CLOEXEC) }
        state = descriptor >= 0 ? HostFile(descriptor: descriptor) : nil
    }

    /// Returns the name of a path below the state directory.
    func name(inState path: [UInt8]) throws(RecordError) -> HostName {
        guard let state else {
            throw RecordError(.ioFailure, "the state directory could not be opened at the start")
        }
        return try HostName(state, path)
    }

    func name(_ route: ScratchRoute) throws(RecordError) -> HostName {
        if let base = route.base { return try HostName(base, route.path) }
        return try name(inState: Self.root + [UInt8(ascii: "/")] + route.path)
    }

    var root: HostName {
        get throws(RecordError) { try name(inState: Self.root) }
    }

    /// Makes the base directory of a mount's directory, when its first scratch name needs it.
    func prepareBase(of route: ScratchRoute) throws(RecordError) {
        guard route.base == nil else { return }
        let base = Self.root + [UInt8(ascii: "/")] + route.path.prefix { $0 != UInt8(ascii: "/") }
        do throws(RecordError) {
            try prepareDirectory(base)
        } catch  where error.systemErrno == ENOENT {
            try prepareDirectory(Self.root)
            try prepareDirectory(base)
        }
    }

    func status(_ name: HostName) throws(RecordError) -> stat? { try name.status() }

    func remove(_ name: HostName, isDirectory: Bool) throws(RecordError) {
        try name.remove(isDirectory: isDirectory)
    }

    /// Writes bytes to a name, all or nothing, with the given modification time.
    func place(_ bytes: [UInt8], at target: HostName, modified: Timestamp) throws(RecordError) {
        try StagedFile(in: self, bytes, modified: modified).place(at: target)
    }

    /// Writes a copy of a file of any size to a name, all or nothing, with the given modification
    /// time.
    func place(copyOf source: HostFile, at target: HostName, modified: Timestamp)
        throws(RecordError)
    {
        try StagedFile(in: self, copyOf: source, modified: modified).place(at: target)
    }
}

extension ScratchStorage {
    static let trash = Array("scratch-trash".utf8)

    /// - Parameter path: a path below the state directory.
    func prepareDirectory(_ path: [UInt8]) throws(RecordError) {
        do throws(RecordError) {
            try name(inState: path).makeDirectory()
        } catch  where error.systemErrno == EEXIST {
            return
        }
    }

    func removeTree(_ path: [UInt8]) throws(RecordError) {
        let name = try name(inState: path)
        guard let status = try name.status() else { return }
        if status.isDirectory {
            for child in try name.names() { try removeTree(path + [UInt8(ascii: "/")] + child) }
        }
        try name.remove(isDirectory: status.isDirectory)
    }
}
