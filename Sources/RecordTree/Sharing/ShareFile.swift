import Glibc
package import RecordModel
import RecordStore
import Synchronization

/// The file that is a share (mount.md §1): `.share.json` in a zone, or `.NAME.share.json` beside a
/// record that is shared with its children. It exists when the share exists.
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

/// A share with its zone.
struct ShownShare {
    let share: Share
    let zone: ZoneInfo

    var text: [UInt8] { share.text + [UInt8(ascii: "\n")] }

    /// Indicates whether this user may change the share: its owner, and administrators, whom the
    /// owner lets invite others.
    var isManaged: Bool {
        get throws(RecordError) {
            if zone.database == .private { return true }
            let role = try JSONParser.parse(share.text)["role"]?.string
            return role == "OWNER" || role == "ADMINISTRATOR"
        }
    }
}

extension Tree {
    /// Returns whether files with such a name may be added, removed and changed without a call of
    /// the kernel.
    func isShareName(_ name: [UInt8], in parent: Node) -> Bool {
        // This is called for every lookup. The first byte already excludes most names.
        guard name.first == UInt8(ascii: "."),
            case .scratch(let place) = plainMeaning(of: name, in: parent)
        else { return false }
        return place.isOfShare || place.isErrorOfShare
    }

    /// Returns the zone or record whose share has the name. Returns nil for another name, and where
    /// there is no such record.
    func shareFile(at place: ScratchPlace) throws(RecordError) -> ShareFile? {
        guard place.isOfShare else { return nil }
        switch place.directory {
        case .zone(let zone): return .zone(zone)
        case .type(let type):
            guard let stem = ShareName.stem(in: place.name) else { return nil }
            return try findRecord(type, stem).map { .record($0.record) }
        case .root, .database, .scratch: return nil
        }
    }

    /// Returns the share that a name shows. Returns nil where there is none.
    func findShare(_ place: ScratchPlace) throws(RecordError) -> ShareFile? {
        guard let file = try shareFile(at: place), !isSetAside(file), try share(file) != nil else {
            return nil
        }
        return file
    }

    func share(_ file: ShareFile) throws(RecordError) -> ShownShare? {
        switch file {
        case .zone(let id):
            guard let zone = try store.zone(id),
                let share = try store.share(of: nil, in: id)
            else { return nil }
            return ShownShare(share: share, zone: zone)
        case .record(let id):
            guard let meta = try store.meta(of: id) else { return nil }
            let zone = try place(of: meta.type).zone
            let share = try store.share(of: meta.name, in: zone.id)
            return share.map { ShownShare(share: $0, zone: zone) }
        }
    }

    func shareAttributes(_ file: ShareFile) throws(RecordError) -> Attributes? {
        guard let shown = try share(file) else { return nil }
        let mayWrite = try shown.isManaged && !options.isReadOnly
        return self.file(
            NodeNumber(file, epoch: 0), size: Int64(shown.text.count),
            modified: shown.share.changed,
            mayWrite ? 0o644 : 0o444)
    }

    /// Returns the shares of records that a TYPE directory shows.
    func shares(in type: TypeID) throws(RecordError) -> [(name: [UInt8], file: ShareFile)] {
        try sharedRecords(in: place(of: type).zone.id).compactMap { record in
            guard record.type == type, !record.isHidden else { return nil }
            let name = ShareName.of(record.stem)
            return name.count <= 255 ? (name, .record(record.id)) : nil
        }
    }

    /// Returns the records of a zone that have their own shares.
    func sharedRecords(in zone: ZoneID) throws(RecordError) -> [RecordEntry] {
        var records: [RecordEntry] = []
        for share in try store.shares(in: zone) {
            guard let root = share.root, let record = try store.record(named: root, in: zone)
            else { continue }
            records.append(record)
        }
        return records
    }

    func openShare(_ file: ShareFile, flags: Int32) throws(RecordError) -> Opened {
        guard let shown = try share(file) else {
            throw RecordError(.stale, "it is no longer shared")
        }
        guard flags & O_ACCMODE != O_RDONLY else {
            return Opened(
                handle: addHandle(.share(file, shown.text), flags: flags), isDirect: true)
        }
        try checkWritable(.share(file))
        let buffer = CommandBuffer(
            .share(file), base: shown.text, isEmpty: flags & O_TRUNC != 0)
        return Opened(handle: addHandle(.command(buffer), flags: flags), isDirect: true)
    }
}
