import RecordModel
import RecordWire

/// Names and change tags of operations (Protocol, "Records and saves").
extension ModifyPlan {
    /// Checks the tag of `update`, `replace` and a `delete` with a tag: the record must be the one
    /// that the caller knows.
    mutating func requireTag(
        _ dictionary: RecordDictionary, _ stored: StoredRecord, _ index: Int
    ) throws(ServerError) {
        guard let tag = dictionary.changeTag else {
            if settings.isStrict { throw missingTag(index) }
            throw conflict(
                stored,
                "operations[\(index)].record.recordChangeTag is missing; the record has "
                    + "tag \(stored.changeTag).")
        }
        guard tag == stored.changeTag else {
            throw conflict(
                stored,
                "operations[\(index)].record.recordChangeTag is stale; the record has tag "
                    + "\(stored.changeTag).")
        }
    }

    func missingTag(_ index: Int) -> ServerError {
        ServerError(.badRequest, "operations[\(index)].record.recordChangeTag is missing.")
    }

    /// Returns a conflict with the record as the server has it, unless `strict`.
    private mutating func conflict(_ stored: StoredRecord, _ reason: String) -> ServerError {
        // Apple's text has no such key.
        if settings.isStrict { return ServerError(.conflict, reason) }
        var printer = RecordPrinter(
            resources: resources, access: access, context: context.withoutMemory,
            projection: projection, reader: transaction)
        do throws(ServerError) {
            try overlay.hold(stored.bytes)
            return ServerError(.conflict, reason, serverRecord: try printer.serverRecord(stored))
        } catch {
            return error
        }
    }

    /// Returns the error with the code and words of the original service, which its clients look
    /// for; Apple's text has EXISTS. Sources: https://github.com/mentrena/SyncKit/issues/111 and
    /// https://github.com/paulw11/Seam3/issues/124 ("Server Record Changed" is CONFLICT).
    mutating func alreadyExists(_ stored: StoredRecord, _ index: Int) -> ServerError {
        conflict(stored, "operations[\(index)].record.recordName: record to insert already exists")
    }

    /// Returns the error for a name that the caller may not know of. Its text holds for the whole
    /// request.
    func nameTaken(_ index: Int) -> ServerError {
        ServerError(
            .exists,
            "operations[\(index)].record.recordName: this name, or that of another new record of "
                + "the request, is not free.")
    }

    func notFound(_ index: Int) -> ServerError {
        ServerError(
            .notFound, "operations[\(index)].record.recordName: there is no such record.")
    }

    /// Checks that a new record does not have a name that is reserved for the system.
    func checkName(
        _ name: RecordName, _ type: RecordTypeName?, _ index: Int
    ) throws(ServerError) {
        let path = "operations[\(index)].record.recordName"
        guard !name.bytes.isEmpty, name.bytes.count <= RecordName.maximumBytes else {
            throw ServerError(
                .badRequest, "\(path): a name has 1 to \(RecordName.maximumBytes) bytes.")
        }
        let isOwnUserRecord =
            type == .users && zone.database.isPublic
            && name.bytes == context.caller.user?.name.bytes
        guard name.isFreeForClients || isOwnUserRecord else {
            throw ServerError(.badRequest, "\(path): names with a leading _ are the system's.")
        }
        guard name != .zoneShare else {
            throw ServerError(.badRequest, "\(path): only the share of a zone has this name.")
        }
    }
}
