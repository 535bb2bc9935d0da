import Glibc

/// A user with a home of their own: nothing of the machine's settings or stores is seen.
final class CommandLineHome: Sendable {
    let folder: String

    init() throws {
        folder = try TestRoot.makeDirectory("home")
    }

    deinit {
        for mount in MountTable.points(below: folder).reversed() { MountTable.detach(mount) }
        TestRoot.removeTree(folder)
    }

    var environment: [String: String] { ["HOME": folder] }

    @discardableResult
    func recordfs(_ arguments: String..., input: String = "") throws -> ChildResult {
        try recordfs(arguments, input: input)
    }

    func recordfs(_ arguments: [String], input: String = "") throws -> ChildResult {
        try finish(
            [try Executable.recordfs()] + arguments, environment: environment, input: input)
    }

    /// As a user types it into bash, with `recordfs` in PATH and `~` the working directory.
    func shell(_ script: String) throws -> ChildResult {
        let folders = try Executable.recordfs().split(separator: "/").dropLast()
        let path = "/" + folders.joined(separator: "/") + ":" + String(cString: getenv("PATH"))
        return try finish(
            ["bash", "-c", "set -o pipefail; " + script],
            environment: environment.merging(["PATH": path]) { $1 }, directory: folder)
    }

    func file(_ name: String, _ content: String) throws -> String {
        try SystemCall.writeFile("\(folder)/\(name)", content)
        return "\(folder)/\(name)"
    }
}
