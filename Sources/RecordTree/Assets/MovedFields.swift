import RecordModel
import RecordStore

/// What renames have done to large fields a moment ago, for the time in which the next calls of the same
/// tool may say more. A crash ends it: then what was done stands. Which files are to follow their records is in
/// the store (`Follow`).
struct MovedFields {
    /// A record that has gone aside as a file of this machine, with its files.
    struct Aside {
        let record: RecordID
        var assets: [AssetEntry]
        /// Those of them that a tool has moved itself since.
        var moved: [AssetEntry] = []
        let end: Duration
    }

    private struct Ending {
        let asset: AssetID
        let end: Duration
    }

    private struct Exchange {
        let records: Set<RecordID>
        var fields: Set<FieldName> = []
        let end: Duration
    }

    private struct Field: Hashable {
        let type: TypeID
        let stem: Stem
        let field: FieldName
        let index: Int?

        init(_ file: FieldFile) {
            (type, stem, field, index) = (file.type, file.stem, file.field, file.index)
        }
    }

    /// One large field of one record.
    private struct Place: Hashable {
        let record: RecordID
        let field: FieldName
        let index: Int?

        init(_ asset: AssetEntry) {
            (record, field, index) = (asset.record, asset.field, asset.index)
        }
    }

    /// Fields whose files a tool has renamed to their names, and until when that counts.
    private var named: [Place: Duration] = [:]
    private var asides: [ScratchID: Aside] = [:]
    private var endings: [ScratchPlace: Ending] = [:]
    private var exchanges: [Exchange] = []
    /// Oldest first.
    private var beside: [Field: [FieldFile]] = [:]
    /// Bounds of fields, and of files beside one: what is forgotten is made known by `recordfs scratch --problems`.
    private static let most = 4_096
    private static let mostBeside = 8

    // MARK: Records that take their files along

    mutating func setAside(
        _ record: RecordID, _ assets: [AssetEntry], as id: ScratchID, until end: Duration
    ) {
        asides = asides.filter { $0.value.record != record }
        asides[id] = Aside(record: record, assets: assets, end: end)
    }

    func aside(_ id: ScratchID, at time: Duration) -> Aside? {
        asides[id].flatMap { $0.end > time ? $0 : nil }
    }

    mutating func forgetAsides(until time: Duration) {
        asides = asides.filter { $0.value.end > time }
        endings = endings.filter { $0.value.end > time }
        exchanges.removeAll { $0.end <= time }
        named = named.filter { $0.value > time }
    }

    /// A tool has said where this file goes.
    mutating func moved(_ asset: AssetEntry) {
        func isIt(_ other: AssetEntry) -> Bool {
            other.record == asset.record && other.field == asset.field
                && other.index == asset.index
        }
        for (id, aside) in asides where aside.assets.contains(where: isIt) {
            asides[id]?.assets.removeAll(where: isIt)
            asides[id]?.moved.append(asset)
        }
    }

    /// A tool has renamed a file to this name.
    ///
    /// - Parameter end: until when a rename of the record means no other file.
    mutating func filled(_ asset: AssetEntry, until end: Duration) { named[Place(asset)] = end }

    func isNamed(_ asset: AssetEntry, at time: Duration) -> Bool {
        named[Place(asset), default: .zero] > time
    }

    // MARK: Other endings

    mutating func changedEnding(of asset: AssetID, from former: ScratchPlace, until end: Duration) {
        endings[former] = Ending(asset: asset, end: end)
    }

    /// The file that has had the name a moment ago, once.
    mutating func takeEnding(_ place: ScratchPlace, at time: Duration) -> AssetID? {
        guard let ending = endings.removeValue(forKey: place), ending.end > time else { return nil }
        return ending.asset
    }

    // MARK: Exchanges

    mutating func exchanged(_ record: RecordID, _ other: RecordID, until end: Duration) {
        exchanges.append(Exchange(records: [record, other], end: end))
    }

    /// Whether the files have been exchanged with their records already; true once.
    mutating func wereExchanged(
        _ asset: AssetEntry, _ other: AssetEntry, at time: Duration
    ) -> Bool {
        guard asset.field == other.field, asset.index == other.index,
            let index = exchanges.lastIndex(where: {
                $0.records == [asset.record, other.record] && $0.end > time
            })
        else { return false }
        return exchanges[index].fields.insert(asset.field).inserted
    }

    // MARK: Files beside

    mutating func made(_ file: FieldFile) {
        if beside.count >= Self.most { beside = [:] }
        var files = beside[Field(file), default: []]
        files.removeAll { $0 == file }
        files.append(file)
        beside[Field(file)] = files.suffix(Self.mostBeside)
    }

    /// Gives what was made here beside the file of a field, oldest first; it may be gone by now.
    func madeBeside(_ file: FieldFile) -> [FieldFile] { beside[Field(file), default: []] }
}
