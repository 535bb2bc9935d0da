import CLinux
import Glibc
package import RecordModel
import RecordStore
import Synchronization

/// The two ends of a rename, by the meaning of their names.
private enum RenameEnd {
    case record(TypeID, Stem)
    case asset(FieldFile)
    case scratch(ScratchPlace)
}

extension Tree {
    /// Renames (renameat2). The identity of a record is its name: a file that takes a record's name
    /// updates the record, and a record that loses its name waits for its delete (mount.md §5).
    package func rename(
        parent: NodeNumber, name: [UInt8], newParent: NodeNumber, newName: [UInt8],
        flags: UInt32, caller: Requester = Requester(threadID: 0)
    ) throws(RecordError) {
        try checkWritable()
        try checkLength(newName)
        guard flags & ~(renameNoReplace | renameExchange) == 0 else {
            throw RecordError(.invalidArgument, "this kind of rename is not supported")
        }
        let (from, to) = (try node(parent), try node(newParent))
        if case .control(let path) = from {
            guard flags & renameExchange == 0 else {
                throw RecordError(.invalidArgument, "nothing is exchanged with .recordfs")
            }
            return try restore(
                name, in: path, to: try meaning(of: newName, in: to),
                replacing: flags & renameNoReplace == 0)
        }
        if conflictMerged(by: newName, in: to) != nil {
            throw RecordError(.crossDevice, "the merge of a conflict is written; copy the file")
        }
        if case .control = to { throw Self.noMoveWithin }
        guard var source = try find(name, in: from) else {
            throw .noSuchFile
        }
        if parent == newParent && name == newName { return }
        if flags & renameExchange == 0, try takeBackEnding(newName, in: to, for: source) {
            guard let found = try find(name, in: from) else { throw .noSuchFile }
            source = found
        }
        guard let sourceEnd = try end(name, in: from), let targetEnd = try end(newName, in: to)
        else {
            try checkMayGo(source)
            try telling(name, in: from) { () throws(RecordError) in try checkIsNotShared(source) }
            throw RecordError(.crossDevice, "zones and record types are not renamed; copy them")
        }
        if flags & renameNoReplace != 0, try find(newName, in: to) != nil {
            throw RecordError(.alreadyExists, "the new name is taken")
        }
        if flags & renameExchange != 0 {
            return try exchange(sourceEnd, targetEnd, caller)
        }
        if case .asset(let id) = source, case .asset(let file) = sourceEnd,
            case .asset(let newFile) = plainMeaning(of: newName, in: to),
            file.isSameField(as: newFile), !TemporaryName.isBesideField(newName)
        {
            return try renameEnding(id, to: newFile)
        }
        try move(source, sourceEnd, targetEnd, caller)
    }

    private func end(_ name: [UInt8], in parent: Node) throws(RecordError) -> RenameEnd? {
        switch try meaning(of: name, in: parent) {
        case .record(let type, let stem): .record(type, stem)
        case .asset(let file): .asset(file)
        case .scratch(let place): .scratch(place)
        case .zone, .type, .errorFile, .control, .database, .owner, .fixed, .impossible: nil
        }
    }

    private func move(
        _ source: Node, _ sourceEnd: RenameEnd, _ targetEnd: RenameEnd, _ caller: Requester
    ) throws(RecordError) {
        if case .share(let file) = source {
            guard case .scratch(let target) = targetEnd else {
                throw RecordError(.notPermitted, "a share is no record")
            }
            return try setAside(file, as: target)
        }
        switch (sourceEnd, targetEnd) {
        case (.scratch(let place), .scratch(let target)) where target.isOfShare:
            try saveScratch(place, asShare: target)
        case (.scratch(let place), .scratch(let target)):
            try moveScratch(place, to: target)
            noteBeside(target)
        case (.scratch(let place), .record(let type, let stem)):
            try checkWritable(stem, in: type)
            try saveScratch(place, as: stem, in: type, caller)
        case (.scratch(let place), .asset(let file)):
            try checkWritable(file.stem, in: file.type)
            try saveScratch(place, as: file, caller)
        case (.record(let type, let stem), .scratch(let target)):
            try checkWritable(stem, in: type)
            if case .record(let file) = source { try setAside(file, as: target) }
        case (.record(let type, let stem), .record(let newType, let newStem)):
            guard case .record(let file) = source else { return }
            if type == newType {
                try renameRecord(file, type, stem, to: newStem)
            } else {
                try moveRecord(file, type, stem, to: newType, newStem)
            }
        case (.asset(let file), .scratch(let target)):
            try checkWritable(file.stem, in: file.type)
            if case .asset(let id) = source { try setAside(id, as: target) }
            noteBeside(target)
        case (.asset(let file), .asset(let newFile)):
            try checkWritable(file.stem, in: file.type)
            guard file.type == newFile.type else { throw Self.otherDirectory }
            if case .asset(let id) = source { try renameAsset(id, to: newFile) }
        case (.record, .asset), (.asset, .record):
            throw RecordError(.crossDevice, "a record and an asset are not renamed to each other")
        }
    }

    static let otherDirectory = RecordError(
        .crossDevice, "records are not moved between types or zones; copy them")

    private func exchange(
        _ source: RenameEnd, _ target: RenameEnd, _ caller: Requester
    ) throws(RecordError) {
        switch (source, target) {
        case (.scratch(let place), .scratch(let other)):
            try exchangeScratch(place, other)
        case (.scratch(let place), .record(let type, let stem)),
            (.record(let type, let stem), .scratch(let place)):
            try checkWritable(stem, in: type)
            try exchange(place, with: stem, in: type, caller)
        case (.record(let type, let stem), .record(let otherType, let otherStem)):
            guard type == otherType else { throw Self.otherDirectory }
            try exchange(stem, with: otherStem, in: type)
        case (.asset(let file), .asset(let other)):
            guard file.type == other.type else { throw Self.otherDirectory }
            try exchange(file, with: other)
        case (.scratch(let place), .asset(let file)), (.asset(let file), .scratch(let place)):
            try exchange(place, with: file, caller)
        case (.record, .asset), (.asset, .record):
            throw RecordError(
                .crossDevice, "a record and a large field are not renamed to each other")
        }
    }
}

/// RENAME_NOREPLACE and RENAME_EXCHANGE of <linux/fs.h>.
private let renameNoReplace: UInt32 = 1
let renameExchange: UInt32 = 2
