import Glibc
import Testing

/// A user with a home of their own: nothing of the machine's settings or stores is seen.
final class CommandLineHome: Sendable {
    /// As the user's processes see it.
    let folder: String
    /// Nil for the user who runs the tests.
    let user: OtherUser?

    init() throws {
        folder = try TestRoot.makeDirectory("home")
        user = nil
    }

    /// The home of another user, whose mounts end with `OtherUsers`.
    init(of user: OtherUser) {
        folder = user.home
        self.user = user
    }

    deinit {
        guard user == nil else { return }
        for mount in MountTable.points(below: folder).reversed() { MountTable.detach(mount) }
        TestRoot.removeTree(folder)
    }

    var environment: [String: String] { ["HOME": folder] }

    @discardableResult
    func recordfs(_ arguments: String..., input: String = "") throws -> ChildResult {
        try recordfs(arguments, input: input)
    }

    func recordfs(_ arguments: [String], input: String = "") throws -> ChildResult {
        let command = [try program] + arguments
        return try finish(
            user?.command(command) ?? command, environment: environment, input: input)
    }

    /// As a user types it into bash, with `recordfs` in PATH and `~` the working directory.
    func shell(_ script: String) throws -> ChildResult {
        let command = ["bash", "-c", "set -o pipefail; " + script]
        return try finish(
            user?.command(command) ?? command, environment: try shellEnvironment(),
            directory: user == nil ? folder : nil)
    }

    /// The same on a terminal.
    func terminal(_ script: String) throws -> Terminal {
        let command = ["bash", "-c", script]
        return try Terminal(
            user?.command(command) ?? command, environment: try shellEnvironment(),
            directory: user == nil ? folder : nil)
    }

    private func shellEnvironment() throws -> [String: String] {
        let folders = try program.split(separator: "/").dropLast()
        let path = "/" + folders.joined(separator: "/") + ":" + String(cString: getenv("PATH"))
        return environment.merging(["PATH": path]) { $1 }
    }

    private var program: String {
        get throws { try user?.recordfs ?? Executable.recordfs() }
    }

    func file(_ name: String, _ content: String) throws -> String {
        try SystemCall.writeFile("\(user?.homeOutside ?? folder)/\(name)", content)
        return "\(folder)/\(name)"
    }
}

extension CommandLineHome {
    /// Creates a home with a mount that has a zone Kitchen, with so many recipes and as many menus.
    ///
    /// - Parameter script: what else is done in the zone's directory.
    static func kitchen(_ count: Int, _ script: String = "") throws -> CommandLineHome {
        let home = try CommandLineHome()
        let result = try home.shell(
            """
            recordfs mount > /dev/null
            mkdir -p RecordFS/private/Kitchen/{Recipe,Menu}; cd RecordFS/private/Kitchen
            for i in {1..\(count)}; do echo "{\\"n\\": $i}" | tee Recipe/r$i.json > Menu/m$i.json; done
            """ + "\n" + script)
        try #require(result.status == 0, "\(result)")
        return home
    }

    /// Runs a script in the zone's directory.
    func inKitchen(_ script: String) throws -> ChildResult {
        try shell("cd RecordFS/private/Kitchen\n" + script)
    }
}
