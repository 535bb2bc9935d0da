import RecordModel
import RecordWire

/// Answers assets/upload and assets/rereference.
struct AssetOperations: Sendable {
    let resources: ServiceResources

    /// Answers assets/upload: a URL for each asset to upload (CloudKit Web Services Reference,
    /// Uploading Assets). A client that names no record gets a new name, and may save the upload
    /// there or in any other record.
    func uploadTokens(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> [UInt8]
    {
        let request = try AssetUploadBody(
            JSONReader(body), limits: resources.settings.requestLimits)
        let user = try context.requireUser()
        let tokens = request.tokens.map { token in
            var named = token
            named.recordName = token.recordName ?? RecordName(RequestIdentifier.make().string)
            return named
        }
        let (zone, failures) = try await resources.storage.read { reader throws(ServerError) in
            let access = try ZoneAccess.open(request.zone, context, reader)
            return (access.zone.key, try Self.refusals(tokens, access, context, reader))
        }
        let expires = context.milliseconds + Int64(resources.settings.uploadURLSeconds) * 1000
        return AnswerWriter.object { answer in
            answer.member(
                "tokens",
                array: { answer in
                    for (index, (token, failure)) in zip(tokens, failures).enumerated() {
                        let record = token.recordName ?? RecordName(bytes: [])
                        let ticket = UploadTicket(
                            place: AssetPlace(
                                zone: zone, record: record, field: token.fieldName),
                            namesRecord: request.tokens[index].recordName != nil,
                            type: token.recordType, user: user.name,
                            expiresMilliseconds: expires)
                        answer.object { answer in
                            answer.member("recordName", record)
                            answer.member("fieldName", token.fieldName)
                            if let failure {
                                answer.refusal(failure, context)
                            } else {
                                answer.member(
                                    "url",
                                    context.baseURL + "/assets/up/"
                                        + ticket.sealed(by: resources.seal).string)
                            }
                        }
                    }
                })
        }
    }

    /// Returns for each token the reason why the caller gets none, or nil when it is granted.
    private static func refusals(
        _ tokens: [AssetUploadRequest], _ access: ZoneAccess, _ context: OperationContext,
        _ reader: any StorageReader
    ) throws(ServerError) -> [ServerError?] {
        let visibility = try RecordVisibility(access, context, reader)
        return try tokens.map { (token) throws(ServerError) in
            let decision = try visibility.decideUpload(
                to: token.recordName ?? RecordName(bytes: []), type: token.recordType, reader)
            guard case .refused(let error) = decision else { return nil }
            return error
        }
    }

    /// Answers assets/rereference: values for other records with the content that these fields have
    /// (CloudKit Web Services Reference, Referencing Existing Assets).
    func rereferenceAssets(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> [UInt8]
    {
        let request = try RereferenceBody(
            JSONReader(body), limits: resources.settings.requestLimits)
        let user = try context.requireUser()
        let (database, found) = try await resources.storage.write {
            transaction throws(ServerError) in
            let access = try ZoneAccess.open(request.zone, context, transaction)
            let visibility = try RecordVisibility(access, context, transaction)
            var items: [RereferencedField] = []
            for item in request.assets {
                let field = try Self.field(item, access, visibility, transaction)
                items.append(field)
                try Self.renew(
                    field.assets, access.zone.key.database, context.milliseconds, transaction)
            }
            return (access.zone.key.database, items)
        }
        let items = try await withBytes(found)
        let expires = context.milliseconds + Int64(resources.settings.receiptSeconds) * 1000
        return AnswerWriter.object { answer in
            answer.member(
                "assets",
                array: { answer in
                    for item in items {
                        item.write(to: &answer, context) { asset in
                            AssetReceipt(
                                database: database, target: nil,
                                fileChecksum: asset.fileChecksum, size: asset.size,
                                user: user.name, expiresMilliseconds: expires
                            ).dictionary(sealedBy: resources.seal)
                        }
                    }
                })
        }
    }

    /// Returns the assets of the field, or else the asset that is asked for and that a record had.
    private static func field(
        _ item: RereferenceBody.Item, _ access: ZoneAccess, _ visibility: RecordVisibility,
        _ reader: any StorageReader
    ) throws(ServerError) -> RereferencedField {
        let assets = try assets(of: item, visibility, reader)
        guard let checksum = item.fileChecksum else {
            return RereferencedField(item: item, assets: assets)
        }
        if let asset = assets.first(where: { $0.fileChecksum == checksum }) {
            return RereferencedField(item: item, assets: [asset])
        }
        let row = try formerAsset(checksum, access, reader)
        return RereferencedField(
            item: item, assets: row.map { [WireAsset($0.sha256, size: $0.size)] } ?? [],
            former: row?.sha256)
    }

    /// Returns an asset that a record of the database has or had. Only the owner of the database
    /// gets it, who saw all its records: knowing a checksum never shows anybody bytes that they
    /// could not have read.
    private static func formerAsset(
        _ checksum: Text, _ access: ZoneAccess, _ reader: any StorageReader
    ) throws(ServerError) -> AssetRow? {
        guard case .owner = access.view, !access.zone.key.database.isPublic else { return nil }
        return try reader.savedAsset(access.zone.key.database, fileChecksum: checksum)
    }

    /// Returns the fields without former assets whose bytes are gone. That can happen after a
    /// restore, because a backup has no bytes of assets that no record has.
    private func withBytes(
        _ found: [RereferencedField]
    ) async throws(ServerError) -> [RereferencedField] {
        var fields: [RereferencedField] = []
        for var field in found {
            if let hash = field.former, try await resources.assets.find(hash) == nil {
                field.assets = []
            }
            fields.append(field)
        }
        return fields
    }

    /// Returns the assets of a field that the caller may read, in order. Returns none when there
    /// are none.
    private static func assets(
        of item: RereferenceBody.Item, _ visibility: RecordVisibility, _ reader: any StorageReader
    ) throws(ServerError) -> [WireAsset] {
        guard let record = try visibility.record(item.recordName, reader) else { return [] }
        let fields = try FieldsCodec.decode(record.fields)
        switch fields.first(where: { $0.name == item.fieldName })?.value {
        case .asset(let asset): return [asset]
        case .list(let elements):
            return elements.compactMap { element in
                if case .asset(let asset) = element { asset } else { nil }
            }
        default: return []
        }
    }

    /// Keeps the bytes for as long as the new receipts are valid, whatever happens to the record.
    private static func renew(
        _ assets: [WireAsset], _ database: DatabaseKey, _ milliseconds: Int64,
        _ transaction: any StorageTransaction
    ) throws(ServerError) {
        for asset in assets {
            guard var row = try transaction.asset(database, fileChecksum: asset.fileChecksum),
                row.uploadedMilliseconds < milliseconds
            else { continue }
            row.uploadedMilliseconds = milliseconds
            try transaction.putAsset(row)
        }
    }
}

/// The result of a rereference request for one field.
private struct RereferencedField: Sendable {
    let item: RereferenceBody.Item
    var assets: [WireAsset]
    /// The content of `assets`, when the field does not have it.
    var former: ContentHash?

    /// Writes one dictionary for each asset, for a list several in its order, or otherwise the
    /// error.
    func write(
        to answer: inout AnswerWriter, _ context: OperationContext,
        dictionary: (WireAsset) -> WireAsset
    ) {
        for asset in assets {
            answer.object { answer in
                answer.member("recordName", item.recordName)
                answer.member("fieldName", item.fieldName)
                for member in dictionary(asset).members {
                    answer.member(member.key.string, member.value)
                }
            }
        }
        guard assets.isEmpty else { return }
        answer.object { answer in
            answer.member("recordName", item.recordName)
            answer.member("fieldName", item.fieldName)
            answer.refusal(
                ServerError(.notFound, "There is no such asset for this user."), context)
        }
    }
}

extension AnswerWriter {
    /// Writes the members of an item that failed.
    fileprivate mutating func refusal(_ error: ServerError, _ context: OperationContext) {
        member("serverErrorCode", error.code.rawValue)
        member("reason", error.reason)
        member("uuid", context.requestID)
    }
}
