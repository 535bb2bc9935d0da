package import RecordModel
import RecordStore
package import RecordWire

/// The former states of a user's own records, as a recordfs-server keeps them for a while: also
/// those of a machine that is lost.
package struct ServerHistory: Sendable {
    /// A state that a record has had.
    package struct Version: Hashable, Sendable {
        package let name: RecordName
        package let type: RecordTypeName
        /// The change tag of the state, which names it among those of its record.
        package let tag: Text
        /// The file of the record then.
        package let text: [UInt8]
        package let saved: Timestamp
        /// The origin of the save, as far as its machine has told it.
        package let origin: GestureOrigin?
        package let replaced: Timestamp
        /// The origin of the change that ended the state.
        package let replacing: GestureOrigin?
        /// Indicates whether that change was a deletion.
        package let isDeletion: Bool
    }

    /// The number of states of one request.
    private static let pageCount = 200

    private let transport: any SyncTransport

    package init(_ transport: any SyncTransport) { self.transport = transport }

    /// Returns the states in a zone of the private database, those that ended last first.
    ///
    /// - Parameters:
    ///   - name: only those of this record.
    ///   - limit: the most states.
    package func versions(
        in zone: ZoneName, of name: RecordName?, limit: Int
    ) async throws(SyncProblem) -> [Version] {
        var found: [Version] = []
        var request = HistoryRequest(
            zone: ZoneIdentifier(zone: zone), name: name, resultsLimit: Self.pageCount)
        while found.count < limit {
            request.resultsLimit = min(Self.pageCount, limit - found.count)
            let page = try await transport.send(
                .recordsHistory, .private, request.bytes, reading: HistoryAnswer.init(_:))
            found += page.versions.map(Version.init(_:))
            let next = page.continuationMarker.flatMap { Int64($0.string, radix: 36) }
            guard let next else { return found }
            guard request.before.map({ next < $0 }) ?? true else {
                throw .unreadable("records/history: its pages do not end")
            }
            request.before = next
        }
        return found
    }
}

extension ServerHistory.Version {
    fileprivate init(_ former: FormerAnswer) {
        let record = former.record
        name = record.name
        type = record.type
        tag = record.changeTag
        text = record.fileText?.utf8 ?? Self.printed(record)
        saved = Timestamp(milliseconds: record.modified?.milliseconds ?? 0)
        origin = record.gesture.flatMap(GestureOrigin.init(_:))
        replaced = Timestamp(milliseconds: former.replaced.milliseconds)
        replacing = former.gesture.flatMap(GestureOrigin.init(_:))
        isDeletion = former.isDeletion
    }

    private static func printed(_ record: RecordAnswer) -> [UInt8] {
        let change = RemoteChange(record, type: record.type, schema: nil) { field, index, asset in
            AssetValue(asset, of: record.name, field, index)
        }
        guard case .upsert(let fields, let parent) = change.operation else { return [] }
        return RecordDocument.print(fields, parent: parent)
    }
}

extension Timestamp {
    fileprivate init(milliseconds: Int64) {
        self = Timestamp(seconds: 0) + .milliseconds(milliseconds)
    }
}
