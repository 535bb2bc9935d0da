import ArgumentParser
import Foundation
import Glibc
import RecordControl
import RecordModel
import RecordStore

struct PutCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "put", abstract: "Save a record, or the bytes of a large field.",
        discussion: """
            The zone and the record type are made when missing. What cannot be accepted is refused \
            with line and column; the record stays as it is.
            """)

    @OptionGroup var state: StateOptions
    @Flag(name: .shortAndLong, help: "Say what was done.")
    var verbose = false
    @Argument(help: "The record, DATABASE/ZONE/TYPE/NAME, or a large field, ...NAME@FIELD.EXT.")
    var path: PathArgument
    @Argument(help: "The file to take, standard input by default.", completion: .file())
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

    /// Whether the record is there whose large field the path may be.
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
                try Places.resolved(file)
            }
            try store.perform(.putAsset(place.path, file: source), about: path.text)
            return
        }
        // Not in a place that the store clears when it is opened.
        let copy = "\(store.directory)/put-\(getpid())"
        try store.reporting { () throws(RecordError) in
            try Places.makeDirectory(store.directory)
            try copyFile("-", to: copy)
        }
        defer { unlink(copy) }
        try store.perform(.putAsset(place.path, file: copy), about: path.text)
    }
}
