import RecordModel
import RecordStore

/// The files of large fields when their record is renamed. They move with the record at once, where
/// nothing prevents it. The new name may have files of another record that was just removed, as in
/// an exchange of two records by way of a third name. Then the files stay unchanged until the tool
/// has handled them, or the grace time is over.
final class FollowingFiles: Sendable {
    let assets: OpenAssets
    let errors: ErrorReports
    let fields: FieldFiles
    let moves: FieldMoves
    let options: TreeOptions
    let scratchNodes: ScratchNodes
    let store: RecordStore

    init(_ ground: Ground, _ scratchRooms: ScratchRooms, _ assetRooms: AssetRooms) {
        assets = assetRooms.assets
        errors = ground.errors
        fields = assetRooms.fields
        moves = assetRooms.moves
        options = ground.options
        scratchNodes = scratchRooms.scratchNodes
        store = ground.store
    }

    /// Returns the files for a local text that takes a record's name: the files that already have
    /// that name, and the files from the record that the text was before.
    func movedFiles(
        of place: ScratchPlace, to stem: Stem, in type: TypeID
    ) throws(RecordError) -> MovedFiles {
        guard let id = scratchNodes.knownID(at: place), let aside = moves.aside(id) else {
            return .none
        }
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
            own = try fields.shownFiles(of: target.id).filter { $0.index == nil && $0.hash != nil }
        }
        let following = assets.filter { asset in
            asset.index == nil && asset.hash != nil && own.contains { $0.field == asset.field }
        }
        let carried = assets.filter { $0.hash != nil && !following.contains($0) }
        return MovedFiles(
            own: own, carried: carried, following: unnamed(following, instead: own))
    }

    /// Returns the files that may follow. A file that a tool has just put in the place of another
    /// one stays.
    private func unnamed(_ assets: [AssetEntry], instead own: [AssetEntry]) -> [AssetEntry] {
        assets.filter { asset in
            own.first { $0.field == asset.field }.map { !moves.isNamed($0) } ?? true
        }
    }

    /// Moves the files that follow their record when the tool has not handled them in time. Returns
    /// the time when the next one is due.
    func followDue(olderThan age: Duration) throws(RecordError) -> Timestamp? {
        moves.forgetOld()
        for (follow, error) in try store.assets.finishFollowing(olderThan: age) {
            guard error.isForGood, let record = try store.record(follow.target) else { continue }
            errors.note(.unsaved, "\(record.stem)@\(follow.field)", in: record.type, error)
            try store.assets.drop(follow)
        }
        return try store.assets.firstFollowing().map {
            max($0 + options.grace, options.now + Self.followPause)
        }
    }

    /// The time between two attempts for files that cannot follow now.
    private static let followPause: Duration = .seconds(1)

    /// Returns the files that move with a record. Files that have left the record are removed from
    /// its text first.
    func leavingFilesGone(of file: RecordFile) throws(RecordError) -> [AssetEntry] {
        guard let entry = try store.record(file.record), entry.hasAssets else { return [] }
        let assets = try store.assets.assets(of: entry.id)
        if assets.contains(where: \.isLeaving), entry.state == .saved {
            try store.write(author: .mount) { transaction throws(RecordError) in
                try transaction.assets.finishLeaving(of: entry.id)
            }
        }
        return try store.assets.files(assets.filter { fields.isShown($0, of: entry) }, of: entry.id)
    }

    // MARK: Open files

    /// Returns the open files of a record, with the numbers that the kernel has for them.
    func openFiles(of record: RecordID) -> [(open: OpenAsset, number: NodeNumber?)] {
        assets.open(of: record).map { ($0, assets.held($0.id).number) }
    }

    /// Moves open files to the record that has their bytes since an exchange. A file whose row has
    /// stayed has the same bytes as the other record's.
    func follow(_ files: [(open: OpenAsset, number: NodeNumber?)], to record: RecordID) {
        guard !files.isEmpty else { return }
        do throws(RecordError) {
            let entries = try store.assets.assets(of: record)
            for (open, number) in files {
                let home = open.home
                guard try store.assets.asset(open.id) == nil,
                    let entry = entries.first(where: home.isSameFile)
                else { continue }
                assets.adopt(number, open, as: entry)
            }
        } catch {
            options.report(
                "A program does not follow its open large field, which was exchanged: \(error)")
        }
    }
}

extension RecordError {
    /// Indicates whether another attempt would fail too.
    fileprivate var isForGood: Bool {
        switch code {
        case .accessDenied, .invalidArgument, .notFound: true
        default: isAboutContent
        }
    }
}
