import RecordModel
import RecordStore
import RecordStoreSync

/// A server with two zones, for records that move between them and between types.
///
/// Each record has an `id` that it keeps wherever it goes, `mine`, which this user edits, and
/// `theirs`, which others edit.
struct MoveServer {
    struct Values: Equatable {
        var id: String
        var mine = 0
        var theirs = 0

        var text: String { #"{"id":"\#(id)","mine":\#(mine),"theirs":\#(theirs)}"# }

        var fields: [RecordField] {
            [
                RecordField(name: FieldName("id"), value: .string(Text(id))),
                RecordField(name: FieldName("mine"), value: .int64(Int64(mine))),
                RecordField(name: FieldName("theirs"), value: .int64(Int64(theirs))),
            ]
        }

        init(id: String) { self.id = id }

        init(_ document: RecordDocument) {
            func number(_ field: String) -> Int {
                guard case .int64(let number) = document[FieldName(field)] else { return 0 }
                return Int(number)
            }
            if case .string(let text) = document[FieldName("id")] {
                id = text.string
            } else {
                id = ""
            }
            (mine, theirs) = (number("mine"), number("theirs"))
        }
    }

    struct Place: Hashable {
        let zone: ZoneID
        let name: RecordName
    }

    struct Record: Equatable {
        let type: RecordTypeName
        var values: Values
        var tag: Int
        /// When `theirs` got its value.
        var stamp: FieldStamp?
    }

    private(set) var records: [Place: Record] = [:]
    /// The names that have changed since they were told, with the place to which a deletion led.
    private(set) var news: [Place: RecordAddress?] = [:]
    private var lastTag = 0

    mutating func edit(_ place: Place, theirs: Int, at time: Timestamp) {
        guard var record = records[place] else { return }
        lastTag += 1
        record.values.theirs = theirs
        record.tag = lastTag
        record.stamp = FieldStamp(time: FieldStamp(at: time).time, device: 7)
        records[place] = record
        news[place] = .some(nil)
    }

    /// The answer to one change: its tag, or nil for a conflict.
    mutating func take(_ claim: OutboxClaim) -> String? {
        let place = Place(zone: claim.row.zone, name: claim.row.name)
        let there = records[place]
        guard let document = claim.document else {
            guard there == nil || "t\(there?.tag ?? 0)" == claim.base?.changeTag else { return nil }
            if there != nil { news[place] = .some(claim.movedTo) }
            records[place] = nil
            return ""
        }
        let isCreate = claim.row.operation == .create
        guard (there == nil) == isCreate, there.map({ $0.type == claim.row.type }) ?? true,
            isCreate || "t\(there?.tag ?? 0)" == claim.base?.changeTag
        else { return nil }
        lastTag += 1
        records[place] = Record(
            type: claim.row.type, values: Values(document), tag: lastTag,
            stamp: claim.stamps[FieldName("theirs")] ?? there?.stamp)
        news[place] = .some(nil)
        return "t\(lastTag)"
    }

    /// The report of a name as it is now.
    mutating func report(_ place: Place) -> RemoteChange {
        let address = news.removeValue(forKey: place) ?? nil
        guard let record = records[place] else {
            return RemoteChange(deleted: place.name, movedTo: address)
        }
        var change = RemoteChange(
            type: record.type, name: place.name,
            operation: .upsert(record.values.fields, parent: nil), changeTag: "t\(record.tag)",
            modifiedBy: "_other")
        if let stamp = record.stamp { change.stamps = [FieldName("theirs"): stamp] }
        return change
    }
}
