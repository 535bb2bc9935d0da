import RecordModel
import RecordStore

/// The recent renames of large fields, kept for the grace time.
final class FieldMoves: Sendable {
    let options: TreeOptions
    private let moves = StateLock(MovedFields())

    init(_ ground: Ground) {
        options = ground.options
    }

    private var end: Duration { options.clock.uptime + options.grace }

    /// Forgets the renames that no later call can complete any more.
    func forgetOld() {
        let uptime = options.clock.uptime
        moves.withLock { $0.forgetAsides(until: uptime) }
    }

    // MARK: Records that move with their files

    /// Notes that a record was moved aside as a local file, with its files.
    func noteAside(_ record: RecordID, _ assets: [AssetEntry], as id: ScratchID) {
        let end = end
        moves.withLock { $0.setAside(record, assets, as: id, until: end) }
    }

    /// Returns the record that a local file was, with its files.
    func aside(_ id: ScratchID) -> MovedFields.Aside? {
        let uptime = options.clock.uptime
        return moves.withLock { $0.aside(id, at: uptime) }
    }

    /// Notes that a tool has moved this file itself.
    func noteMoved(_ asset: AssetEntry) { moves.withLock { $0.moved(asset) } }

    /// Notes that a tool has renamed a file to this name.
    func noteFilled(_ asset: AssetEntry) {
        let end = end
        moves.withLock { $0.filled(asset, until: end) }
    }

    /// Returns whether a tool has just renamed a file to the name.
    func isNamed(_ asset: AssetEntry) -> Bool {
        let uptime = options.clock.uptime
        return moves.withLock { $0.isNamed(asset, at: uptime) }
    }

    // MARK: Other endings

    func noteEnding(of asset: AssetID, from former: ScratchPlace) {
        let end = end
        moves.withLock { $0.changedEnding(of: asset, from: former, until: end) }
    }

    /// Returns the asset that had the name recently. Each is returned once.
    func takeEnding(_ place: ScratchPlace) -> AssetID? {
        let uptime = options.clock.uptime
        return moves.withLock { $0.takeEnding(place, at: uptime) }
    }

    // MARK: Exchanges

    func noteExchange(_ record: RecordID, _ other: RecordID) {
        let end = end
        moves.withLock { $0.swapped(record, other, until: end) }
    }

    /// Returns whether the files have already been exchanged with their records. Returns true only
    /// once for each field.
    func wereExchanged(_ asset: AssetEntry, _ other: AssetEntry) -> Bool {
        let uptime = options.clock.uptime
        return moves.withLock { $0.wereExchanged(asset, other, at: uptime) }
    }

    // MARK: Files beside a field

    /// Notes that a local file was made whose name is like that of a large field.
    func noteBeside(_ place: ScratchPlace) {
        guard case .type(let type) = place.directory,
            case .asset(let file) = NameMeaning.plain(of: place.name, in: .type(type)),
            !TemporaryName.isBesideField(place.name)
        else { return }
        moves.withLock { $0.made(file) }
    }

    /// Returns the files that were made beside the file of a field, the oldest first. They may no
    /// longer exist.
    func madeBeside(_ file: FieldFile) -> [FieldFile] { moves.withLock { $0.madeBeside(file) } }
}
