import Foundation
import Glibc
import RecordModel
import RecordStore

/// The words that edits of several users write, as they are found in any bytes.
enum Words {
    /// Stands nowhere else in a store, also not by chance in a token of a feed.
    static let prefix = "zqjwkx"

    /// All that stand in some bytes, with angle brackets around them or, as in a search index, without.
    static func all(in data: Data) -> Set<String> {
        var words: Set<String> = []
        data.withUnsafeBytes { bytes in
            var place = 0
            while let start = first(Array(prefix.utf8), in: bytes, from: place) {
                place = start + prefix.utf8.count
                if let word = word(bytes[place...]) { words.insert(word) }
            }
        }
        return words
    }

    /// Most by the C library, for files are long and debug builds slow.
    static func first(
        _ sought: [UInt8], in bytes: UnsafeRawBufferPointer, from place: Int = 0
    ) -> Int? {
        guard let base = bytes.baseAddress else { return nil }
        var place = place
        while let found = memchr(base + place, Int32(sought[0]), bytes.count - place) {
            place = UnsafeRawPointer(found) - base
            if bytes[place...].starts(with: sought) { return place }
            place += 1
        }
        return nil
    }

    /// Digits, perhaps an m, and the letter of a field.
    private static func word(_ bytes: Slice<UnsafeRawBufferPointer>) -> String? {
        var rest = bytes
        let digits = rest.prefix { (0x30...0x39).contains($0) }
        rest = rest[digits.endIndex...]
        var word = Array(digits)
        if rest.first == UInt8(ascii: "m") { word.append(rest.removeFirst()) }
        guard let field = rest.first, (0x61...0x7A).contains(field), !digits.isEmpty else {
            return nil
        }
        return "<\(prefix)\(String(decoding: word + [field], as: UTF8.self))>"
    }
}

extension Replica {
    /// The files of the database, also where nobody looks any more.
    func databaseFilesOnDisk() throws -> [Data] {
        try FileManager.default.contentsOfDirectory(atPath: directory)
            .filter { $0.hasPrefix("store.sqlite") }
            .map { try Data(contentsOf: URL(fileURLWithPath: "\(directory)/\($0)")) }
    }

    /// Those of large fields, also of those that are still coming, with their names.
    func assetFilesOnDisk() throws -> [Data] {
        let assets = "\(directory)/assets"
        guard FileManager.default.fileExists(atPath: assets) else { return [] }
        var files: [Data] = []
        for name in try FileManager.default.subpathsOfDirectory(atPath: assets) {
            var isDirectory: ObjCBool = false
            let path = "\(assets)/\(name)"
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory),
                !isDirectory.boolValue
            else { continue }
            files.append(Data(name.utf8) + (try Data(contentsOf: URL(fileURLWithPath: path))))
        }
        return files
    }

    /// What is in the trash of all zones of the database that the machine is about.
    func wordsInTrash() throws -> Set<String> {
        var words: Set<String> = []
        for zone in try store.past.zones(in: database, with: .trash) {
            for entry in try store.past.trash(in: zone.id) {
                guard let text = try store.past.trashed(entry.id)?.text else { continue }
                words.formUnion(Record.values(in: String(decoding: text, as: UTF8.self)))
            }
        }
        return words
    }
}
