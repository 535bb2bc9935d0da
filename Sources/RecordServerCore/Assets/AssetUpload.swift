package import RecordModel
package import RecordWire

/// One upload: bytes for the field of the record that a sealed URL names.
package struct AssetUpload: Sendable {
    let resources: ServiceResources
    package let ticket: UploadTicket
    let requestID: Text
    let now: Timestamp

    /// Opens the URL.
    ///
    /// - Throws: notFound for a URL that this server did not make, or whose time has passed.
    package init(token: Text, resources: ServiceResources, requestID: Text, now: Timestamp)
        throws(ServerError)
    {
        guard let ticket = UploadTicket(token, seal: resources.seal),
            now.nanoseconds / 1_000_000 <= ticket.expiresMilliseconds
        else { throw Self.unknownURL }
        self.resources = resources
        self.ticket = ticket
        self.requestID = requestID
        self.now = now
    }

    static let unknownURL = ServerError(
        .notFound, "There is no such upload, or its time has passed: ask assets/upload for a URL.")

    /// Checks an upload before its first byte, for everything that is already known to fail. The
    /// result holds the room of the upload while the server receives it.
    package func admit(length: Int64?, isForm: Bool) async throws(ServerError) -> IncomingRoom {
        let size = max(0, (length ?? 0) - (isForm ? Int64(UploadBody.maximumFormBytes) : 0))
        try UploadBody.requireSize(size, resources.settings)
        let left = try await resources.storage.read { reader throws(ServerError) in
            try self.authorize(reader)
            return try self.room(reader)
        }
        let room = IncomingRoom(resources.incoming, holder, room: left)
        guard room.grow(to: size) else { throw UploadBody.noRoom }
        return room
    }

    /// Stores the bytes, taken out of their form when they arrive in one. Returns the dictionary of
    /// the value to save. `length` is the length that the client promised, if any.
    package func store<Body: AsyncSequence>(
        _ body: Body, form: MultipartReader?, length: Int64?, in room: IncomingRoom
    ) async throws -> WireAsset where Body.Element == [UInt8] {
        var upload = try await UploadBody(
            form, assets: resources.assets, settings: resources.settings, room: room)
        for try await part in body { try await upload.take(part) }
        guard length == nil || length == upload.received else {
            throw ServerError(
                .badRequest,
                "The body ended after \(upload.received) bytes of \(length ?? 0).")
        }
        return try await keep(try await upload.finish())
    }

    private func keep(_ asset: any IncomingAsset) async throws(ServerError) -> WireAsset {
        let (hash, size) = try await asset.place()
        Failpoint.pass(.serverAssetStored)
        let checksum = AssetChecksum.fileChecksum(hash)
        let milliseconds = now.nanoseconds / 1_000_000
        let forgotten: [ContentHash]
        do throws(ServerError) {
            forgotten = try await note(hash, checksum, size, at: milliseconds)
        } catch {
            await discard([hash])
            throw error
        }
        Failpoint.pass(.serverAssetKnown)
        try await asset.confirm(hash)
        await discard(forgotten)
        let receipt = AssetReceipt(
            database: ticket.place.zone.database,
            target: .init(
                record: ticket.namesRecord ? ticket.place.record : nil, field: ticket.place.field),
            fileChecksum: checksum, size: size, user: ticket.user,
            expiresMilliseconds: milliseconds + Int64(resources.settings.receiptSeconds) * 1000)
        return receipt.dictionary(sealedBy: resources.seal)
    }

    /// Makes the content known to the database, if it may be there. Returns the contents that were
    /// removed to make room for it.
    private func note(
        _ hash: ContentHash, _ checksum: Text, _ size: Int64, at milliseconds: Int64
    ) async throws(ServerError) -> [ContentHash] {
        try await resources.storage.write { transaction throws(ServerError) in
            try self.authorize(transaction)
            let known = try transaction.asset(
                self.ticket.place.zone.database, fileChecksum: checksum)
            var forgotten: [ContentHash] = []
            if known == nil {
                forgotten = try self.makeRoom(for: size, at: milliseconds, transaction)
                try self.requireRoom(for: size, transaction)
            }
            try transaction.putAsset(
                AssetRow(
                    database: self.ticket.place.zone.database, fileChecksum: checksum,
                    sha256: hash, size: size,
                    uploadedMilliseconds: max(milliseconds, known?.uploadedMilliseconds ?? 0)))
            return forgotten
        }
    }

    /// Removes the file of a refused upload. A file that cannot be removed now is found at the next
    /// start.
    private func discard(_ hashes: [ContentHash]) async {
        do throws(ServerError) {
            try await AssetSweeper(
                storage: resources.storage, assets: resources.assets,
                receiptSeconds: resources.settings.receiptSeconds
            ).discard(hashes)
        } catch { return }
    }

    /// The holder of the quota that the bytes count for.
    private var holder: QuotaHolder { QuotaHolder(ticket.place.zone.database) }

    /// Returns how many bytes more the owner may have.
    private func room(_ reader: any StorageReader) throws(ServerError) -> Int64 {
        try reader.quotaBytes(holder, resources.settings) - reader.usedBytes(holder)
    }

    /// Checks the room for bytes that the database does not have. Uploads that wait for their
    /// record are within the quota together, so that an owner has at most twice the quota on the
    /// disk.
    private func requireRoom(for size: Int64, _ reader: any StorageReader) throws(ServerError) {
        let left = try room(reader)
        guard try size <= min(left, roomForUploads(reader)) else { throw UploadBody.noRoom }
    }

    private func roomForUploads(_ reader: any StorageReader) throws(ServerError) -> Int64 {
        try reader.quotaBytes(holder, resources.settings) - reader.unsavedBytes(holder)
    }

    private static let batch = 200

    /// Forgets assets that are kept only because records had them, when an upload would not fit
    /// beside them. A user who deletes much can therefore upload as much at once. Assets that may
    /// still have a valid receipt stay.
    private func makeRoom(
        for size: Int64, at milliseconds: Int64, _ transaction: any StorageTransaction
    ) throws(ServerError) -> [ContentHash] {
        var forgotten: [ContentHash] = []
        let limit = milliseconds - Int64(resources.settings.receiptSeconds) * 1000
        while try size > roomForUploads(transaction) {
            let assets = try transaction.releasedAssets(
                holder, uploadedBefore: limit, limit: Self.batch)
            guard !assets.isEmpty else { break }
            try transaction.deleteAssets(assets)
            forgotten += assets.map(\.sha256)
        }
        return forgotten
    }

    /// Checks that the user still exists and may still write there.
    private func authorize(_ reader: any StorageReader) throws(ServerError) {
        guard let user = try reader.user(ticket.user), !user.isDisabled else {
            throw Self.unknownURL
        }
        let zone = ticket.place.zone
        let context = OperationContext.bearer(
            .assetsUpload, of: user, zone: zone, requestID: requestID, now: now)
        let access = try ZoneAccess.open(zone.identifier, context, reader)
        try RecordVisibility(access, context, reader)
            .decideUpload(to: ticket.place.record, type: ticket.type, reader).require()
    }
}
