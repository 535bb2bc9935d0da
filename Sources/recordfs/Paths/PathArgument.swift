import ArgumentParser
import RecordControl
import RecordModel

/// A record path on the command line: `private/Kitchen/Recipe/soup`, or a file on a mount.
struct PathArgument: ExpressibleByArgument, Sendable {
    let text: String

    init(argument: String) { text = argument }

    /// Returns the store and the path in it.
    ///
    /// Errors, as a failure about this argument: `invalidName`, a file that is on no mount,
    /// `--state` for the mount of another store.
    func located(by state: StateOptions) throws(CommandFailure) -> LocatedPath {
        if !text.hasPrefix("/"), !state.isNamed, !HostPaths.hasWorkingDirectory {
            throw CommandFailure(text.isEmpty ? nil : text, StateOptions.goneDirectory)
        }
        if Self.isRecordPath(text) { return try located(text, in: state.access()) }
        let place = MountedPath(text)
        if let mount = place.mount, let path = place.recordPath {
            return try located(path, in: state.access(of: mount, about: text))
        }
        if Self.isFile(text) {
            throw CommandFailure(
                text,
                "is on no mount of RecordFS. Name a file of a mount, or write "
                    + "DATABASE/ZONE/TYPE/NAME.", status: ExitStatus.notFound)
        }
        return try located(text, in: state.access())
    }

    private func located(
        _ path: String, in store: StoreAccess
    ) throws(CommandFailure) -> LocatedPath {
        let path = try store.reporting(text) { () throws(RecordError) in try RecordPath(path) }
        return LocatedPath(store: store, path: path, text: text)
    }

    /// Returns whether the text begins with a database and not like a path of the system.
    static func isRecordPath(_ text: String) -> Bool {
        guard !isFile(text), let first = text.split(separator: "/").first else { return false }
        return Database(name: first) != nil
    }

    private static func isFile(_ text: String) -> Bool {
        ["/", "./", "../", "~/"].contains { text.hasPrefix($0) } || [".", "..", "~"].contains(text)
    }
}

/// A place in a store, as an argument has named it.
struct LocatedPath {
    let store: StoreAccess
    let path: RecordPath
    /// The text as the user wrote it.
    let text: String

    /// Indicates whether the text is the path of a file or directory on a mount.
    var isFile: Bool { !PathArgument.isRecordPath(text) && MountedPath(text).mount != nil }

    func reporting<T>(
        _ body: () throws(RecordError) -> T
    ) throws(CommandFailure) -> T {
        try store.reporting(text, body)
    }
}
