import RecordModel
import RecordStore

/// The recent renames of large fields, kept for the time in which the next calls of the same tool
/// may complete them. A crash ends this memory, and the result up to then stays. The store keeps
/// the files that are to follow their records (`Follow`).
///
/// INVARIANTS: a record was moved aside once, and each field in `beside` has a file.
struct MovedFields: CheckedState {
    /// A record that was moved aside as a local file, with its files.
    struct Aside {
        let record: RecordID
        var assets: [AssetEntry]
        /// The files among them that a tool has moved itself since then.
        var moved: [AssetEntry] = []
        let end: Duration
    }

    struct Ending {
        let asset: AssetID
        let end: Duration
    }

    struct Swap {
        let records: Set<RecordID>
        var fields: Set<FieldName> = []
        let end: Duration
    }

    struct Field: Hashable {
        let type: TypeID
        let stem: Stem
        let field: FieldName
        let index: Int?

        init(_ file: FieldFile) {
            (type, stem, field, index) = (file.type, file.stem, file.field, file.index)
        }
    }

    /// A large field of a record.
    struct Place: Hashable {
        let record: RecordID
        let field: FieldName
        let index: Int?

        init(_ asset: AssetEntry) {
            (record, field, index) = (asset.record, asset.field, asset.index)
        }
    }

    /// The fields whose files a tool has renamed to their names, each with the end of the time in
    /// which this counts.
    private(set) var named: [Place: Duration] = [:]
    private(set) var asides: [ScratchID: Aside] = [:]
    private(set) var endings: [ScratchPlace: Ending] = [:]
    private(set) var exchanges: [Swap] = []
    /// The files made beside fields, the oldest first.
    private(set) var beside: [Field: [FieldFile]] = [:]
    /// The limits for fields, and for files beside one field. `recordfs scratch --problems` lists
    /// files that this memory has forgotten.
    private static let most = 4_096
    private static let mostBeside = 8

    var size: Int { asides.count + beside.count }

    var violations: [String] {
        var found: [String] = []
        if Set(asides.values.map(\.record)).count != asides.count {
            found.append("a record was moved aside twice")
        }
        if beside.values.contains(where: { $0.isEmpty || $0.count > Self.mostBeside }) {
            found.append("a field has no files beside it, or too many")
        }
        return found
    }

    // MARK: Records that move with their files

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

    /// Notes that a tool has moved this file itself.
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

    /// Notes that a tool has renamed a file to this name.
    ///
    /// - Parameter end: the end of the time in which a rename of the record does not move another
    ///   file to this name.
    mutating func filled(_ asset: AssetEntry, until end: Duration) { named[Place(asset)] = end }

    func isNamed(_ asset: AssetEntry, at time: Duration) -> Bool {
        named[Place(asset), default: .zero] > time
    }

    // MARK: Other endings

    mutating func changedEnding(of asset: AssetID, from former: ScratchPlace, until end: Duration) {
        endings[former] = Ending(asset: asset, end: end)
    }

    /// Returns the asset that had the name recently. Each is returned once.
    mutating func takeEnding(_ place: ScratchPlace, at time: Duration) -> AssetID? {
        guard let ending = endings.removeValue(forKey: place), ending.end > time else { return nil }
        return ending.asset
    }

    // MARK: Exchanges

    mutating func swapped(_ record: RecordID, _ other: RecordID, until end: Duration) {
        exchanges.append(Swap(records: [record, other], end: end))
    }

    /// Returns whether the files have already been exchanged with their records. Returns true only
    /// once for each field.
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

    // MARK: Files beside a field

    mutating func made(_ file: FieldFile) {
        if beside.count >= Self.most { beside = [:] }
        var files = beside[Field(file), default: []]
        files.removeAll { $0 == file }
        files.append(file)
        beside[Field(file)] = files.suffix(Self.mostBeside)
    }

    /// Returns the files that were made beside the file of a field, the oldest first. They may no
    /// longer exist.
    func madeBeside(_ file: FieldFile) -> [FieldFile] { beside[Field(file), default: []] }
}
