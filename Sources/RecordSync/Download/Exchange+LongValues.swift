import Logging
import RecordModel
import RecordStore
import RecordWire

/// Turns long values that are assets on the wire back into values.
extension Exchange {
    /// Returns the record with its long values in their fields, and the number of bytes of these
    /// values.
    ///
    /// A long value stays an asset beside an empty field when the server lists its bytes but does
    /// not deliver them, or when the field cannot hold them.
    func whole(
        _ answer: RecordAnswer, of zone: SyncedZone
    ) async throws(SyncProblem) -> (answer: RecordAnswer, bytes: Int) {
        let answer = answer.sinceTag == nil ? answer : try await spliced(answer, of: zone)
        let pairs = try longValues(of: answer)
        guard !pairs.isEmpty else { return (answer, 0) }
        let known = try read { (store) throws(RecordError) in
            try store.knownDocuments(of: answer.name, in: zone.id)
        }
        var whole = answer
        var count = 0
        for pair in pairs {
            do throws(SyncProblem) {
                let bytes = try await bytes(of: pair, known)
                guard let value = pair.value(bytes) else { continue }
                whole.put(value, pair)
                count += bytes.count
            } catch {
                guard case .refused(let refusal) = error, Reaction(refusal) != .retry else {
                    throw error
                }
                logger.warning(
                    "A long value cannot be had",
                    metadata: ["record": "\(answer.name)", "why": "\(error)"])
            }
        }
        return (whole, count)
    }

    /// Returns the long values of a record. A record that Core Data has made has no field beside the
    /// asset: only the model tells that the asset is the value of an attribute.
    private func longValues(of answer: RecordAnswer) throws(SyncProblem) -> [LongValue] {
        guard answer.hasTwins else { return [] }
        let members = try read { (store) throws(RecordError) in
            store.model.members(of: answer.type, by: answer.objectMark)
        }
        return answer.longValues(members)
    }

    /// Returns a record whose texts are sent as changes, with the whole texts. When they are not
    /// changes of the texts that this machine knows, the whole record is requested.
    private func spliced(
        _ answer: RecordAnswer, of zone: SyncedZone
    ) async throws(SyncProblem) -> RecordAnswer {
        guard answer.hasSplices else { return answer }
        let known = try read { (store) throws(RecordError) in
            try store.acknowledged(answer.name, in: zone.id)
        }
        if let known, known.changeTag == answer.sinceTag?.string,
            let whole = answer.whole(since: known.document, texts: known.texts)
        {
            return whole
        }
        let items = try await lookUp([answer.name], in: zone)
        guard case .record(let whole)? = items.first else {
            // The record is deleted in the meantime. The feed reports that next.
            throw .unreadable("a text that is told as a change of an unknown one.")
        }
        return whole
    }

    private func bytes(
        of pair: LongValue, _ known: [RecordDocument]
    ) async throws(SyncProblem) -> [UInt8] {
        let hash = try assets.hash(of: pair.asset)
        for document in known {
            guard let bytes = document[pair.field]?.longBytes, bytes.count == pair.asset.size
            else { continue }
            if SHA256.hash(bytes) == hash { return bytes }
        }
        guard pair.asset.size > 0 else { return [] }
        if let hash, let bytes = try stored(hash, size: pair.asset.size) { return bytes }
        guard let url = pair.asset.address else {
            throw .unreadable("an asset without downloadURL.")
        }
        let box = BytesBox()
        let size = pair.asset.size
        try await transport.download(url, from: 0, count: size) { (bytes) throws(RecordError) in
            box.append(bytes) < size
        }
        let bytes = box.bytes
        let isRight =
            settings.hasExtensions ? pair.asset.isOf(SHA256.hash(bytes)) : true
        guard bytes.count == size, isRight else {
            throw .unreachable("\(bytes.count) of \(size) bytes of a long value came")
        }
        return bytes
    }

    /// Returns bytes that are already in a file of the store, for example where an asset is known
    /// only by its bytes.
    private func stored(
        _ hash: ContentHash, size: Int64
    ) throws(SyncProblem) -> [UInt8]? {
        try read { (store) throws(RecordError) in
            guard store.assets.sizeOfAsset(hash) == size else { return nil }
            return try store.assets.bytes(ofFile: hash)
        }
    }

    /// Returns the items with the long values of all records in their fields.
    func whole(
        _ items: [RecordItem], of zone: SyncedZone
    ) async throws(SyncProblem) -> [RecordItem] {
        var whole: [RecordItem] = []
        whole.reserveCapacity(items.count)
        for item in items {
            guard case .record(let answer) = item else {
                whole.append(item)
                continue
            }
            whole.append(.record(try await self.whole(answer, of: zone).answer))
        }
        return whole
    }
}

/// A field that is empty or absent on the wire, and the asset that has its bytes.
struct LongValue: Sendable {
    let field: FieldName
    let isBytes: Bool
    let twin: FieldName
    let asset: WireAsset

    /// Returns the asset that represents the bytes of a long value where an asset is required.
    static func asset(of value: FieldValue, _ twin: FieldName) -> AssetValue {
        AssetValue(fileName: Text("@\(twin)"), size: value.longBytes.map { Int64($0.count) })
    }

    /// Returns the value. Returns nil for bytes that the field cannot hold.
    func value(_ bytes: [UInt8]) -> WireValue? {
        if isBytes { return .bytes(bytes) }
        // A text of a record contains no NUL.
        guard String(validating: bytes, as: UTF8.self) != nil, !bytes.contains(0) else {
            return nil
        }
        return .string(Text(utf8: bytes))
    }
}

extension RecordAnswer {
    /// Indicates whether a field is named as the asset of another one.
    fileprivate var hasTwins: Bool { fields.contains { $0.name.field != nil } }

    /// Returns the long values.
    ///
    /// - Parameter members: the attributes of the record's entity, where a model tells them.
    fileprivate func longValues(_ members: MemberMapping?) -> [LongValue] {
        fields.compactMap { field -> LongValue? in
            guard case .asset(let asset)? = field.value, let name = field.name.field,
                asset.size <= RecordLimits.fileBytes
            else { return nil }
            let isBytes: Bool
            switch fields.first(where: { $0.name == name })?.value {
            case .string(let text)? where text.isEmpty: isBytes = false
            case .bytes(let bytes)? where bytes.isEmpty: isBytes = true
            case nil:
                guard let type = members?.longType(of: name) else { return nil }
                isBytes = type == .bytes
            default: return nil
            }
            return LongValue(field: name, isBytes: isBytes, twin: field.name, asset: asset)
        }
    }

    fileprivate mutating func put(_ value: WireValue, _ pair: LongValue) {
        if let place = fields.firstIndex(where: { $0.name == pair.field }) {
            fields[place].value = value
            fields.removeAll { $0.name == pair.twin }
        } else if let place = fields.firstIndex(where: { $0.name == pair.twin }) {
            fields[place] = WireField(
                name: pair.field, value: value, type: pair.isBytes ? .bytes : .string,
                stamp: fields[place].stamp)
        }
    }
}
