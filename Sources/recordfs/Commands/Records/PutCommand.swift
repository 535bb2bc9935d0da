import ArgumentParser
import Foundation
import Glibc
import RecordControl
import RecordModel

struct PutCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "put", abstract: "Save a record, or the bytes of a large field.",
        discussion: """
            A missing zone or record type is created. A text that cannot be accepted is refused \
            with line and column; the record does not change.
            """)

    @OptionGroup var state: StateOptions
    @OptionGroup var author: AuthorOptions
    @Flag(name: .shortAndLong, help: "Print the result.")
    var verbose = false
    @Argument(help: "The record, DATABASE/ZONE/TYPE/NAME, or a large field, ...NAME@FIELD.EXT.")
    var path: PathArgument
    @Argument(help: "The file to read; standard input by default.", completion: .file())
    var file = "-"

    func run() throws {
        let place = try path.located(by: state)
        var target = place.path
        if case .asset = target.item {
            guard let record = target.recordWithSign, try !isThere(place) else {
                return try putAsset(place)
            }
            target = record
        }
        let text = try reporting { () throws(RecordError) in try readWholeFile(file) }
        let reply = try place.store.perform(.put(target, text: text), about: path.text)
        guard verbose else { return }
        let subject = place.store.subject(target.description) ?? ""
        Terminal.error("\(subject): \(reply.result.stringMember("outcome") ?? "")")
    }

    /// Returns whether the record exists to which the large field of the path would belong.
    private func isThere(_ place: LocatedPath) throws -> Bool {
        guard FileManager.default.fileExists(atPath: place.store.directory) else { return false }
        let store = try place.store.reader()
        do throws(RecordError) {
            _ = try store.record(at: place.path)
            return true
        } catch {
            return error.code != .notFound
        }
    }

    private func putAsset(_ place: LocatedPath) throws {
        let store = place.store
        guard file == "-" else {
            let source = try reporting(file) { () throws(RecordError) in
                try HostPaths.resolved(file)
            }
            try store.perform(.putAsset(place.path, file: source), about: path.text)
            return
        }
        // The copy is not in a place that the store clears when it is opened.
        let copy = "\(store.directory)/put-\(getpid())"
        try store.reporting { () throws(RecordError) in
            try HostDirectory.make(store.directory)
            try copyFile("-", to: copy)
        }
        defer { unlink(copy) }
        try store.perform(.putAsset(place.path, file: copy), about: path.text)
    }
}
