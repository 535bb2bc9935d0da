import RecordModel
import RecordWire

extension RecordService {
    /// assets/upload: a URL for each asset that is to be brought (reference §12.1). Who names no record
    /// is answered with a new name, and may save what it uploads there or in any other record.
    func uploadTokens(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> [UInt8]
    {
        let request = try AssetUploadBody(JSONReader(body), limits: settings.requestLimits)
        let user = try context.requireUser()
        let tokens = request.tokens.map { token in
            var named = token
            named.recordName = token.recordName ?? RecordName(RequestIdentifier.make().string)
            return named
        }
        let (zone, failures) = try await storage.read { reader throws(ServerError) in
            let access = try ZoneAccess.open(request.zone, context, reader)
            return (access.zone.key, try Self.refusals(tokens, access, context, reader))
        }
        let expires = context.milliseconds + Int64(settings.uploadURLSeconds) * 1000
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
                                        + ticket.sealed(by: seal).string)
                            }
                        }
                    }
                })
        }
    }

    /// For each token why the caller gets none; nil for those that are granted.
    private static func refusals(
        _ tokens: [AssetUploadRequest], _ access: ZoneAccess, _ context: OperationContext,
        _ reader: any StorageReader
    ) throws(ServerError) -> [ServerError?] {
        var refusals: [ServerError?] = []
        for token in tokens {
            do throws(ServerError) {
                try AssetAccess.requireWrite(
                    token.recordName ?? RecordName(bytes: []), type: token.recordType, access,
                    context, reader)
                refusals.append(nil)
            } catch {
                guard error.code == .accessDenied else { throw error }
                refusals.append(error)
            }
        }
        return refusals
    }

    /// assets/rereference: values for other records of what these fields hold (reference §12.2).
    func rereferenceAssets(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> [UInt8]
    {
        let request = try RereferenceBody(JSONReader(body), limits: settings.requestLimits)
        let user = try context.requireUser()
        let (database, items) = try await storage.write { transaction throws(ServerError) in
            let access = try ZoneAccess.open(request.zone, context, transaction)
            var items: [RereferencedField] = []
            for item in request.assets {
                let assets = try Self.assets(of: item, access, context, transaction)
                items.append(RereferencedField(item: item, assets: assets))
                try Self.renew(
                    assets, access.zone.key.database, context.milliseconds, transaction)
            }
            return (access.zone.key.database, items)
        }
        let expires = context.milliseconds + Int64(settings.receiptSeconds) * 1000
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
                            ).dictionary(sealedBy: seal)
                        }
                    }
                })
        }
    }

    /// The assets of a field that the caller may read, in order; empty where there are none.
    private static func assets(
        of item: RereferenceBody.Item, _ access: ZoneAccess, _ context: OperationContext,
        _ reader: any StorageReader
    ) throws(ServerError) -> [WireAsset] {
        guard let record = try AssetAccess.readable(item.recordName, access, context, reader)
        else { return [] }
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

    /// Keeps the bytes for as long as the new receipts are good, whatever becomes of the record.
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

/// What a rereference request found for one field.
private struct RereferencedField: Sendable {
    let item: RereferenceBody.Item
    let assets: [WireAsset]

    /// One dictionary for each asset, a list giving several in its order; else the error.
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
    /// The members of an item that failed.
    fileprivate mutating func refusal(_ error: ServerError, _ context: OperationContext) {
        member("serverErrorCode", error.code.rawValue)
        member("reason", error.reason)
        member("uuid", context.requestID)
    }
}
