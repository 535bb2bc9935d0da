import Foundation
import Glibc
import RecordModel
import RecordStore

/// A program that merges three texts into one, called in the way that git calls it.
struct MergeTool {
    /// The command lines by name, taken from git's `mergetools/`.
    static let known = [
        "vimdiff": vim("vim"), "nvimdiff": vim("nvim"),
        "meld": #"meld --output="$MERGED" "$LOCAL" "$BASE" "$REMOTE""#,
        "kdiff3": #"kdiff3 --auto -o "$MERGED" "$BASE" "$LOCAL" "$REMOTE""#,
        "code": #"code --wait --merge "$REMOTE" "$LOCAL" "$BASE" "$MERGED""#,
    ]

    private static func vim(_ program: String) -> String {
        program + #" -f -d -c '4wincmd w | wincmd J' "$LOCAL" "$BASE" "$REMOTE" "$MERGED""#
    }

    private let name: String
    private let command: String

    init(_ name: String) {
        self.name = name
        command = Self.known[name] ?? name
    }

    /// Lets the user merge, and settles the conflict with the result. A result that cannot be saved
    /// stays in its folder.
    func merge(
        _ conflict: Conflict, of store: RecordStore, _ place: LocatedPath,
        _ settle: (Settlement) throws -> Void
    ) throws(CommandFailure) {
        let before = try place.reporting { () throws(RecordError) in
            try store.syncState.mergedText(of: conflict)
        }
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("recordfs-merge-\(UUID().uuidString)")
        let merged = folder.appendingPathComponent("MERGED.json")
        var isOfUse = false
        do {
            defer { if !isOfUse { try? FileManager.default.removeItem(at: folder) } }
            try prepare(folder, merged, before, conflict, of: store, place)
            // Waits like a shell: ^C ends only the tool.
            let status = system(command)
            let after = [UInt8](try Data(contentsOf: merged))
            isOfUse = after != before ?? []
            guard status == 0 else {
                throw CommandFailure(place.text, "\(name) failed; the conflict stays.")
            }
            guard isOfUse else {
                throw CommandFailure(
                    place.text,
                    "\(name) has changed nothing; the conflict stays. To keep the record as it is: "
                        + "--keep merged.")
            }
            try settle(.text(after, since: before))
            isOfUse = false
        } catch {
            let failure = error as? CommandFailure
            let message = failure?.message ?? error.localizedDescription
            throw CommandFailure(
                place.text, isOfUse ? "\(message) Your merge is in \(merged.path)." : message,
                status: failure?.status ?? ExitStatus.failure)
        }
    }

    /// Writes the four files into a folder that no other user can read.
    private func prepare(
        _ folder: URL, _ merged: URL, _ before: [UInt8]?, _ conflict: Conflict,
        of store: RecordStore, _ place: LocatedPath
    ) throws {
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        try write(before, to: merged, as: "MERGED")
        for (side, variable) in [
            (Conflict.Side.base, "BASE"), (.mine, "LOCAL"), (.theirs, "REMOTE"),
        ] {
            let text = try place.reporting { () throws(RecordError) in
                try store.syncState.text(of: side, in: conflict)
            }
            try write(text, to: folder.appendingPathComponent("\(variable).json"), as: variable)
        }
    }

    /// Writes one file. A side that had no record is an empty file.
    private func write(_ text: [UInt8]?, to file: URL, as variable: String) throws {
        try Data(text ?? []).write(to: file)
        setenv(variable, file.path, 1)
    }
}
