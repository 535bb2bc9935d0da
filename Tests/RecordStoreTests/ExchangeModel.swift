import RecordModel
import RecordStore

/// The expected content of a store and its server, kept in the plainest way.
///
/// The users here edit `mine`, `word` and the parent, and those elsewhere edit `theirs`, so that every
/// merge has one right result, whatever the stamps say.
struct ExchangeModel {
    struct Values: Equatable {
        var mine: Int64?
        var theirs: Int64?
        var word: String?
        var parent: String?

        var text: String {
            var members: [String] = []
            if let mine { members.append("\"mine\":\(mine)") }
            if let theirs { members.append("\"theirs\":\(theirs)") }
            if let word { members.append("\"word\":\"\(word)\"") }
            if let parent { members.append("\"$parent\":\"\(parent)\"") }
            return "{\(members.joined(separator: ","))}"
        }

        var fields: [RecordField] {
            var fields: [RecordField] = []
            if let mine { fields.append(RecordField(name: FieldName("mine"), value: .int64(mine))) }
            if let theirs {
                fields.append(RecordField(name: FieldName("theirs"), value: .int64(theirs)))
            }
            if let word {
                fields.append(RecordField(name: FieldName("word"), value: .string(Text(word))))
            }
            return fields
        }

        init() {}

        init(_ document: RecordDocument) {
            if case .int64(let number) = document[FieldName("mine")] { mine = number }
            if case .int64(let number) = document[FieldName("theirs")] { theirs = number }
            if case .string(let text) = document[FieldName("word")] { word = text.string }
            parent = document.parent?.description
        }
    }

    struct Local: Equatable {
        var values: Values
        /// Removed, and not yet deleted.
        var isWaiting = false
    }

    private(set) var local: [String: Local] = [:]
    /// The values in the trash under each name, newest last.
    private(set) var trash: [String: [Values]] = [:]
    private(set) var versions: [String: Int] = [:]
    /// The value of `theirs` when a record was deleted here.
    private(set) var deleted: [String: Int64?] = [:]

    var shown: [String: Values] { local.filter { !$0.value.isWaiting }.mapValues(\.values) }

    // MARK: Here

    mutating func save(_ name: String, _ values: Values) {
        if local[name]?.values != values { versions[name, default: 0] += 1 }
        local[name] = Local(values: values)
    }

    mutating func beginDelete(_ name: String) { local[name]?.isWaiting = true }
    mutating func cancelDelete(_ name: String) { local[name]?.isWaiting = false }

    mutating func finalize() {
        for (name, record) in local where record.isWaiting { remove(name) }
    }

    private mutating func remove(_ name: String) {
        guard let record = local.removeValue(forKey: name) else { return }
        trash[name, default: []].append(record.values)
        versions[name, default: 0] += 1
        deleted[name] = record.values.theirs
    }

    mutating func restore(_ name: String) {
        guard let values = trash[name]?.popLast() else { return }
        save(name, values)
    }

    // MARK: Told by the server

    /// The server reports a record as it has it now, or that it has none.
    ///
    /// - Parameters:
    ///   - pending: the later of the operations of this name that are not answered.
    mutating func tell(_ name: String, _ values: Values?, pending: OutboxRow.Operation?) {
        let isEdited = pending == .create || pending == .update
        guard let values else {
            // Who removed it here, or has not edited it, loses it; an edit wins.
            if let record = local[name], record.isWaiting || !isEdited { remove(name) }
            return
        }
        guard let record = local[name] else {
            // A deletion goes on, except over what somebody has changed since.
            if pending == .delete, let known = deleted[name], known == values.theirs { return }
            return save(name, values)
        }
        var merged = isEdited ? record.values : values
        merged.theirs = values.theirs
        if record.isWaiting {
            merged = record.values
            merged.theirs = values.theirs
            if merged == record.values { return }
        }
        save(name, merged)
    }
}

/// A server that compares tags and keeps a feed with the last position of each name.
struct ModelServer {
    struct Record: Equatable {
        var values: ExchangeModel.Values
        var position: Int
        /// When `theirs` got its value, as far as anybody has said.
        var stamp: FieldStamp?
        var tag: String { "t\(position)" }
    }

    private(set) var records: [String: Record] = [:]
    private var gone: [String: Int] = [:]
    private var position = 0

    mutating func put(_ name: String, _ values: ExchangeModel.Values, stamp: FieldStamp?) {
        position += 1
        gone[name] = nil
        records[name] = Record(values: values, position: position, stamp: stamp)
    }

    mutating func remove(_ name: String) {
        position += 1
        records[name] = nil
        gone[name] = position
    }

    /// Deletions are forgotten, so that a feed has to start again.
    mutating func forgetDeletions() { gone = [:] }

    func isTold(_ name: String, at token: Int) -> Bool {
        max(records[name]?.position ?? 0, gone[name] ?? 0) <= token
    }

    /// The next names of the feed with their positions, and whether these are all.
    func news(after token: Int, limit: Int) -> (names: [(name: String, position: Int)], Bool) {
        let all = (records.mapValues(\.position).map { ($0.key, $0.value) } + gone.map { ($0, $1) })
            .filter { $0.1 > token }.sorted { $0.1 < $1.1 }
        return (all.prefix(limit).map { (name: $0.0, position: $0.1) }, all.count <= limit)
    }
}
