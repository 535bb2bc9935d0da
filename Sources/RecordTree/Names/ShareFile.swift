import Glibc
package import RecordModel

/// The file that is a share: `.share.json` in a zone, or `.NAME.share.json` beside a record that is
/// shared with its children (Sharing, "Overview"). It exists when the share exists.
package enum ShareFile: Hashable, Sendable {
    case zone(ZoneID)
    case record(RecordID)
}

/// Names of share files, and of the files with the reasons for refused texts.
enum ShareName {
    /// The name of a zone's share file, and the end of the name of a record's share file.
    static let zone = Array(".share.json".utf8)

    static func of(_ stem: Stem) -> [UInt8] { [UInt8(ascii: ".")] + stem.bytes + zone }

    /// Returns the record's stem in `.NAME.share.json`.
    static func stem(in name: [UInt8]) -> Stem? {
        guard name.first == UInt8(ascii: "."), name.count > zone.count + 1,
            name.suffix(zone.count).elementsEqual(zone)
        else { return nil }
        return Stem(bytes: Array(name.dropFirst().dropLast(zone.count)))
    }

    /// Returns `.share.error` or `.NAME.share.error`.
    static func ofError(_ name: [UInt8]) -> [UInt8] {
        Array(name.dropLast("json".utf8.count)) + Array("error".utf8)
    }
}

extension ScratchPlace {
    /// Indicates whether the name belongs to a share file. A local text under such a name is the
    /// draft of a share, which only waits for a correction.
    var isOfShare: Bool {
        switch directory {
        case .zone: name == ShareName.zone
        case .type: ShareName.stem(in: name) != nil || name == ShareName.zone
        case .database: name == ShareName.zone
        case .root, .scratch: false
        }
    }

    /// The reason why nothing can be shared under the name.
    var shareProblem: RecordError {
        switch directory {
        case .type where name != ShareName.zone, .zone:
            RecordError(.notFound, "there is no record of this name here that could be shared")
        case .type:
            RecordError(
                .invalidName,
                "a record's share is .NAME.share.json; that of the zone is in the directory above")
        case .root, .database, .scratch:
            RecordError(.invalidName, "the share of a zone is in the zone: ZONE/.share.json")
        }
    }

    /// Indicates whether the file may contain the reason for a refused draft.
    var isErrorOfShare: Bool {
        let ending = ShareName.ofError(ShareName.zone)
        return name.suffix(ending.count).elementsEqual(ending)
    }

    /// The place of the reason for a refused draft of a share.
    var ofError: ScratchPlace {
        ScratchPlace(directory: directory, name: ShareName.ofError(name))
    }
}
