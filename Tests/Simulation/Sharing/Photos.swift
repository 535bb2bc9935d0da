import Foundation
import RecordModel
import RecordWire

/// The large fields of a history: what is in each, and how it is called.
struct Photos {
    private struct Photo {
        /// Stands in its bytes.
        let word: String
        /// As records name it on machines, and edits in the oracle.
        let hash: ContentHash
    }

    private var photos: [String: Photo] = [:]
    /// Of the checksums by which the server knows them.
    private var hashes: [String: String] = [:]

    /// Twice the word, so that half of it has one.
    static func bytes(_ word: String) -> [UInt8] { Array((word + word).utf8) }

    /// - Returns: the name of a new one.
    mutating func add(_ word: String) -> String {
        let hash = SHA256.hash(Self.bytes(word))
        photos[hash.hex] = Photo(word: word, hash: hash)
        hashes[AssetChecksum.fileChecksum(hash).string] = hash.hex
        return hash.hex
    }

    /// The names of those that the fields of a record on the server have.
    func named(in fields: String) -> [String] {
        fields.split(separator: "\"").compactMap { hashes[String($0)] }
    }

    func name(ofChecksum checksum: String) -> String? { hashes[checksum] }

    /// What a file of that name has to have in it.
    func bytes(of name: String) -> [UInt8]? { photos[name].map { Self.bytes($0.word) } }

    /// The names of those of which something is in some bytes: what was in them, or how they are called.
    ///
    /// - Parameter words: those that are in these bytes.
    func held(in data: Data, _ words: Set<String>) -> [String] {
        photos.filter { name, photo in
            words.contains(photo.word) || data.has(Array(name.utf8))
                || data.has(Array(AssetChecksum.fileChecksum(photo.hash).string.utf8))
        }.map(\.key)
    }

    /// The words of all of them, which are in no text.
    var words: Set<String> { Set(photos.values.map(\.word)) }
}

extension Data {
    fileprivate func has(_ bytes: [UInt8]) -> Bool {
        withUnsafeBytes { Words.first(bytes, in: $0) != nil }
    }
}
