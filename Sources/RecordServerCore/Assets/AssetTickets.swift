package import RecordModel
package import RecordWire

/// A field of a record, for tickets.
package struct AssetPlace: Hashable, Sendable {
    package let zone: ZoneKey
    let record: RecordName
    package let field: FieldName
}

/// The right that an upload URL gives: to upload bytes for one field of one record, or of any
/// record.
package struct UploadTicket: Hashable, Sendable {
    package let place: AssetPlace
    /// Indicates whether the client has named the record. Otherwise the record of `place` is only
    /// part of the answer, and the bytes may be saved in the field of any record.
    var namesRecord = true
    let type: RecordTypeName
    package let user: UserName
    let expiresMilliseconds: Int64
}

/// The right that a download URL gives: to see one asset of a record as `viewer` would.
package struct DownloadTicket: Hashable, Sendable {
    package let place: AssetPlace
    let fileChecksum: Text
    /// The viewer. Nil stands for anybody, in the public database.
    package let viewer: UserName?
    let expiresMilliseconds: Int64
}

/// The proof that this server has stored these bytes for this user and database.
struct AssetReceipt: Hashable, Sendable {
    let database: DatabaseKey
    /// The field of a record. Nil stands for any field of any record, as `assets/rereference` gives
    /// it.
    let target: Target?

    /// Returns whether the receipt is valid for this field of this record.
    func fits(_ record: RecordName, _ field: FieldName) -> Bool {
        guard let target else { return true }
        return target.field == field && (target.record.map { $0 == record } ?? true)
    }

    let fileChecksum: Text
    let size: Int64
    let user: UserName
    let expiresMilliseconds: Int64

    struct Target: Hashable, Sendable {
        /// The record. Nil stands for any record.
        let record: RecordName?
        let field: FieldName
    }
}

extension UploadTicket {
    func sealed(by seal: Seal) -> Text {
        var fields = SealedFields()
        fields.append(place)
        fields.append(namesRecord ? 1 : 0)
        fields.append(type.bytes)
        fields.append(user.bytes)
        fields.append(expiresMilliseconds)
        return seal.seal(fields.bytes, for: .uploadURL)
    }

    /// Opens a token. Returns nil when this server did not seal it. The time is not checked.
    init?(_ token: Text, seal: Seal) {
        guard let bytes = seal.open(token, for: .uploadURL) else { return nil }
        var reader = SealedFieldReader(bytes)
        guard let place = reader.place(), let namesRecord = reader.number(),
            let type = reader.part(), let user = reader.part(), let expires = reader.number(),
            reader.isAtEnd
        else { return nil }
        self.init(
            place: place, namesRecord: namesRecord == 1, type: RecordTypeName(bytes: type),
            user: UserName(bytes: user), expiresMilliseconds: expires)
    }
}

extension DownloadTicket {
    func sealed(by seal: Seal) -> Text {
        var fields = SealedFields()
        fields.append(place)
        fields.append(fileChecksum.utf8)
        fields.append(viewer?.bytes ?? [])
        fields.append(expiresMilliseconds)
        return seal.seal(fields.bytes, for: .downloadURL)
    }

    /// Opens a token. Returns nil when this server did not seal it. The time is not checked.
    init?(_ token: Text, seal: Seal) {
        guard let bytes = seal.open(token, for: .downloadURL) else { return nil }
        var reader = SealedFieldReader(bytes)
        guard let place = reader.place(), let checksum = reader.part(),
            let viewer = reader.part(), let expires = reader.number(), reader.isAtEnd
        else { return nil }
        self.init(
            place: place, fileChecksum: Text(utf8: checksum),
            viewer: viewer.isEmpty ? nil : UserName(bytes: viewer), expiresMilliseconds: expires)
    }
}

extension AssetReceipt {
    func sealed(by seal: Seal) -> Text {
        var fields = SealedFields()
        fields.append(database)
        fields.append(target.map { $0.record == nil ? 2 : 1 } ?? 0)
        fields.append(target?.record?.bytes ?? [])
        fields.append(target?.field.bytes ?? [])
        fields.append(fileChecksum.utf8)
        fields.append(size)
        fields.append(user.bytes)
        fields.append(expiresMilliseconds)
        return seal.seal(fields.bytes, for: .receipt)
    }

    /// Opens a token. Returns nil when this server did not seal it. The time is not checked.
    init?(_ token: Text, seal: Seal) {
        guard let bytes = seal.open(token, for: .receipt) else { return nil }
        var reader = SealedFieldReader(bytes)
        guard let database = reader.database(), let hasTarget = reader.number(),
            let record = reader.part(), let field = reader.part(), let checksum = reader.part(),
            let size = reader.number(), let user = reader.part(), let expires = reader.number(),
            reader.isAtEnd
        else { return nil }
        let target = Target(
            record: hasTarget == 1 ? RecordName(bytes: record) : nil,
            field: FieldName(bytes: field))
        self.init(
            database: database, target: hasTarget == 0 ? nil : target,
            fileChecksum: Text(utf8: checksum), size: size, user: UserName(bytes: user),
            expiresMilliseconds: expires)
    }
}

extension SealedFields {
    fileprivate mutating func append(_ database: DatabaseKey) {
        append(database.container.container.utf8)
        append(database.container.environment == .production ? 1 : 0)
        append(database.owner.bytes)
    }

    fileprivate mutating func append(_ place: AssetPlace) {
        append(place.zone.database)
        append(place.zone.zone.bytes)
        append(place.record.bytes)
        append(place.field.bytes)
    }
}

extension SealedFieldReader {
    fileprivate mutating func database() -> DatabaseKey? {
        guard let container = part(), let environment = number(), let owner = part() else {
            return nil
        }
        return DatabaseKey(
            container: ContainerKey(
                container: Text(utf8: container),
                environment: environment == 1 ? .production : .development),
            owner: UserName(bytes: owner))
    }

    fileprivate mutating func place() -> AssetPlace? {
        guard let database = database(), let zone = part(), let record = part(),
            let field = part()
        else { return nil }
        return AssetPlace(
            zone: ZoneKey(database: database, zone: ZoneName(bytes: zone)),
            record: RecordName(bytes: record), field: FieldName(bytes: field))
    }
}
