import RecordModel
import RecordStore
import Synchronization

/// Where the files of large fields go when their record is renamed: along with it at once, where nothing
/// stands in the way. Where the new name has files of another record that has just gone, as in an exchange
/// of two by a third name, these stay what they are until the tool has said what is to become of them, or
/// the grace is over.
extension Tree {
    /// The files that a text from beside the records meets under the name, and those that come with it
    /// from the record that it was.
    func movedFiles(
        of place: ScratchPlace, to stem: Stem, in type: TypeID
    ) throws(RecordError) -> (MovedFiles, following: [AssetEntry]) {
        let time = options.clock.uptime
        let aside = state.withLock { state in
            state.scratch.knownID(at: place).flatMap { state.movedFields.aside($0, at: time) }
        }
        guard let aside else { return (.none, []) }
        var (files, following) = try movedFiles(
            aside.assets, of: aside.record, to: stem, in: type)
        guard try store.record(type, stem)?.id != aside.record else { return (files, following) }
        let moved = aside.moved.filter { $0.index == nil && $0.hash != nil }
        files.withheld = moved.filter { asset in
            !files.own.contains { $0.field == asset.field }
        }
        following += moved
        return (files, following)
    }

    func movedFiles(
        _ assets: [AssetEntry], of record: RecordID, to stem: Stem, in type: TypeID
    ) throws(RecordError) -> (MovedFiles, following: [AssetEntry]) {
        let target = try store.record(type, stem)
        guard target?.id != record else { return (.none, []) }
        var own: [AssetEntry] = []
        if let target, target.state == .waitingDelete {
            own = try shownFiles(of: target.id).filter { $0.index == nil && $0.hash != nil }
        }
        let following = assets.filter { asset in
            asset.index == nil && asset.hash != nil && own.contains { $0.field == asset.field }
        }
        let carried = assets.filter { $0.hash != nil && !following.contains($0) }
        return (MovedFiles(own: own, carried: carried), following)
    }

    func follow(_ assets: [AssetEntry], to target: RecordID, instead own: [AssetEntry]) {
        let time = options.clock.uptime
        state.withLock {
            $0.movedFields.follow(
                assets, to: target, instead: own, at: time, due: time + options.grace)
        }
    }

    /// The files go along whose tool has said nothing more in time. Returns when the next one is due.
    func followDue(olderThan age: Duration) throws(RecordError) -> Timestamp? {
        let time = options.clock.uptime
        let due = state.withLock { state in
            state.movedFields.forgetAsides(until: time)
            return state.movedFields.takeFollows(
                until: age == .zero ? .seconds(Int64.max) : time)
        }
        for follow in due {
            let asset = follow.asset
            do throws(RecordError) {
                try store.write(author: .mount) { transaction throws(RecordError) in
                    try transaction.follow(follow)
                }
            } catch {
                noteFailure(.unsaved, "\(asset.stem)@\(asset.field)", in: asset.type, error)
            }
        }
        return state.withLock { $0.movedFields.nextFollow }.map { now + max($0 - time, .zero) }
    }

    /// The files that a record takes along: those that have left it are out of its text before.
    func leavingFilesGone(of file: RecordFile) throws(RecordError) -> [AssetEntry] {
        guard let entry = try store.record(file.record), entry.hasAssets else { return [] }
        let assets = try store.assets(of: entry.id)
        if assets.contains(where: \.isLeaving), entry.state == .saved {
            try store.write(author: .mount) { transaction throws(RecordError) in
                try transaction.finishLeaving(of: entry.id)
            }
        }
        return assets.filter { isShown($0, of: entry) }
    }
}

extension Transaction {
    /// The record has the field still, with the bytes of a file that had its name before. Other bytes are of
    /// somebody who has written the file since, here or on another machine: they are the later ones.
    fileprivate func follow(_ follow: MovedFields.Follow) throws(RecordError) {
        let asset = follow.asset
        guard let hash = asset.hash, let record = try record(follow.target), record.state == .saved,
            let current = try self.asset(follow.target, asset.field, asset.index),
            follow.instead.map({ $0.hash == current.hash }) ?? true
        else { return }
        try setAsset(
            follow.target, asset.field, asset.index, hash, size: asset.size,
            fileExtension: asset.fileExtension)
    }
}
