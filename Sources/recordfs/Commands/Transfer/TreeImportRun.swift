import Foundation
import RecordControl
import RecordModel

/// Runs `recordfs import --all`.
struct TreeImportRun {
    private static let shownProblems = 10

    let source: String
    let path: PathArgument?
    let state: StateOptions
    let isRehearsal: Bool
    let isQuiet: Bool

    func run() throws {
        let place = try path?.located(by: state)
        let access = try place?.store ?? state.access()
        let display = ProgressDisplay(isQuiet: isQuiet)
        var problems: [ImportProblem] = []
        let result = try withDirectory(access) { directory in
            try access.write { writer in
                var options = TreeImport.Options()
                options.target = place?.path ?? RecordPath()
                options.isRehearsal = isRehearsal
                options.batchRows = writer.isDirect ? 2000 : 200
                return try access.reporting(source) { () throws(RecordError) in
                    var run = TreeImport(
                        directory, options: options,
                        perform: { (request) throws(RecordError) in try writer.perform(request) },
                        onProblem: { problems.append($0) }, onProgress: display.show)
                    return try run.run()
                }
            }
        }
        display.clear()
        for problem in problems.prefix(Self.shownProblems) {
            Terminal.error("\(problem.file ?? source): \(problem.error.message)")
        }
        if problems.count > Self.shownProblems {
            let rest = problems.count - Self.shownProblems
            Terminal.error("and \(Showing.count(rest, "more file")) refused")
        }
        if isRehearsal {
            Terminal.print(
                "would create \(Showing.grouped(result.created)), "
                    + "update \(Showing.grouped(result.updated)), "
                    + "leave \(Showing.grouped(result.unchanged)) as they are, "
                    + "refuse \(Showing.grouped(result.failed))")
        } else {
            display.finish(result, names: nil)
        }
        if result.failed > 0 { throw CommandFailure(nil, "", status: ExitStatus.failure) }
    }

    /// Runs the body with the directory itself, or with a temporary one that holds the files of an
    /// archive.
    private func withDirectory<T>(
        _ access: StoreAccess, _ body: (String) throws -> T
    ) throws -> T {
        var isDirectory: ObjCBool = false
        if FileManager.default.fileExists(atPath: source, isDirectory: &isDirectory),
            isDirectory.boolValue
        {
            return try body(HostPaths.absolute(source))
        }
        let base = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/var/tmp"
        let place = "\(base)/recordfs-import-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: place, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        defer {
            do {
                try FileManager.default.removeItem(atPath: place)
            } catch {
                Terminal.error("recordfs: \(place): is left over, remove it.")
            }
        }
        try access.reporting(source) { () throws(RecordError) in
            try TreeImport.unpack(source, into: place)
        }
        return try body(place)
    }
}
