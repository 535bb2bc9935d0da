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
    ) throws(RecordError) -> MovedFiles {
        let time = options.clock.uptime
        let aside = state.withLock { state in
            state.scratch.knownID(at: place).flatMap { state.movedFields.aside($0, at: time) }
        }
        guard let aside else { return .none }
        var files = try movedFiles(aside.assets, of: aside.record, to: stem, in: type)
        guard try store.record(type, stem)?.id != aside.record else { return files }
        let moved = aside.moved.filter { $0.index == nil && $0.hash != nil }
        files.withheld = moved.filter { asset in
            !files.own.contains { $0.field == asset.field }
        }
        files.following? += unnamed(moved, instead: files.own)
        return files
    }

    func movedFiles(
        _ assets: [AssetEntry], of record: RecordID, to stem: Stem, in type: TypeID
    ) throws(RecordError) -> MovedFiles {
        let target = try store.record(type, stem)
        guard target?.id != record else { return .none }
        var own: [AssetEntry] = []
        if let target, target.state == .waitingDelete {
            own = try shownFiles(of: target.id).filter { $0.index == nil && $0.hash != nil }
        }
        let following = assets.filter { asset in
            asset.index == nil && asset.hash != nil && own.contains { $0.field == asset.field }
        }
        let carried = assets.filter { $0.hash != nil && !following.contains($0) }
        return MovedFiles(
            own: own, carried: carried, following: unnamed(following, instead: own))
    }

    /// The files that may follow: not where a tool has just put another one.
    private func unnamed(_ assets: [AssetEntry], instead own: [AssetEntry]) -> [AssetEntry] {
        let time = options.clock.uptime
        return state.withLock { state in
            assets.filter { asset in
                own.first { $0.field == asset.field }
                    .map { !state.movedFields.isNamed($0, at: time) } ?? true
            }
        }
    }

    /// The files go along whose tool has said nothing more in time. Returns when the next one is due.
    func followDue(olderThan age: Duration) throws(RecordError) -> Timestamp? {
        let time = options.clock.uptime
        state.withLock { $0.movedFields.forgetAsides(until: time) }
        for (follow, error) in try store.finishFollowing(olderThan: age) {
            guard error.isForGood, let record = try store.record(follow.target) else { continue }
            noteFailure(.unsaved, "\(record.stem)@\(follow.field)", in: record.type, error)
            try store.drop(follow)
        }
        return try store.firstFollowing().map { max($0 + options.grace, now + Self.followPause) }
    }

    /// Between two tries of what cannot follow now.
    private static let followPause: Duration = .seconds(1)

    /// The files that a record takes along: those that have left it are out of its text before.
    func leavingFilesGone(of file: RecordFile) throws(RecordError) -> [AssetEntry] {
        guard let entry = try store.record(file.record), entry.hasAssets else { return [] }
        let assets = try store.assets(of: entry.id)
        if assets.contains(where: \.isLeaving), entry.state == .saved {
            try store.write(author: .mount) { transaction throws(RecordError) in
                try transaction.finishLeaving(of: entry.id)
            }
        }
        return try store.files(assets.filter { isShown($0, of: entry) }, of: entry.id)
    }
}

extension RecordError {
    /// True when another try would end the same.
    fileprivate var isForGood: Bool {
        switch code {
        case .accessDenied, .invalidArgument, .notFound: true
        default: isAboutContent
        }
    }
}
