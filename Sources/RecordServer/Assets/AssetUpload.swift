import Hummingbird
import NIOCore
import RecordModel
import RecordWire

/// One upload: bytes for the field of the record that a sealed URL names.
struct AssetUpload: Sendable {
    let service: RecordService
    let ticket: UploadTicket
    let requestID: Text
    let now: Timestamp

    /// - Throws: notFound for a URL that was not made here, or whose time has passed.
    init(token: Text, service: RecordService, requestID: Text, now: Timestamp)
        throws(ServerError)
    {
        guard let ticket = UploadTicket(token, seal: service.seal),
            now.nanoseconds / 1_000_000 <= ticket.expiresMilliseconds
        else { throw Self.unknownURL }
        self.service = service
        self.ticket = ticket
        self.requestID = requestID
        self.now = now
    }

    static let unknownURL = ServerError(
        .notFound, "There is no such upload, or its time has passed: ask assets/upload for a URL.")

    /// Before the first byte: what is already known to fail.
    func admit(length: Int64?) async throws(ServerError) {
        try requireSize(length ?? 0)
        let size = length ?? 0
        try await service.storage.read { reader throws(ServerError) in
            try self.authorize(size: size, reader)
        }
    }

    /// Stores the bytes and answers the dictionary of the value to save. `length` is what the
    /// client promised to send, if it did.
    func store<Body: AsyncSequence>(
        _ body: Body, length: Int64?
    ) async throws -> WireAsset where Body.Element == ByteBuffer {
        let asset = try await service.assetDirectory.begin()
        var pending: [UInt8] = []
        var received: Int64 = 0
        for try await part in body {
            received += Int64(part.readableBytes)
            try requireSize(received)
            part.withUnsafeReadableBytes { pending.append(contentsOf: $0) }
            if pending.count >= Self.chunkBytes {
                try await asset.append(pending)
                pending.removeAll(keepingCapacity: true)
            }
        }
        if !pending.isEmpty { try await asset.append(pending) }
        guard length == nil || length == received else {
            throw ServerError(
                .badRequest, "The body ended after \(received) bytes of \(length ?? 0).")
        }
        return try await keep(asset)
    }

    /// Kept small: as many uploads as there are connections hold one each.
    private static let chunkBytes = 64 << 10

    private func keep(_ asset: UnfinishedAsset) async throws(ServerError) -> WireAsset {
        let (hash, size) = try await asset.place()
        Failpoint.pass(.serverAssetStored)
        let checksum = AssetChecksum.fileChecksum(hash)
        let milliseconds = now.nanoseconds / 1_000_000
        try await service.storage.write { transaction throws(ServerError) in
            try self.authorize(size: size, transaction)
            let known = try transaction.asset(
                self.ticket.place.zone.database, fileChecksum: checksum)
            try transaction.putAsset(
                AssetRow(
                    database: self.ticket.place.zone.database, fileChecksum: checksum,
                    sha256: hash, size: size,
                    uploadedMilliseconds: max(milliseconds, known?.uploadedMilliseconds ?? 0)))
        }
        Failpoint.pass(.serverAssetKnown)
        try await asset.confirm(hash)
        let receipt = AssetReceipt(
            database: ticket.place.zone.database,
            target: .init(record: ticket.place.record, field: ticket.place.field),
            fileChecksum: checksum, size: size, user: ticket.user,
            expiresMilliseconds: milliseconds + Int64(service.settings.receiptSeconds) * 1000)
        return receipt.dictionary(sealedBy: service.seal)
    }

    private func requireSize(_ size: Int64) throws(ServerError) {
        guard size <= service.settings.assetBytes else {
            throw ServerError(
                .limitExceeded,
                "The asset is larger than \(service.settings.assetBytes) bytes, the limit.")
        }
    }

    /// The user is still one, may still write there, and the owner has room.
    private func authorize(size: Int64, _ reader: any StorageReader) throws(ServerError) {
        guard let user = try reader.user(ticket.user), !user.isDisabled else {
            throw Self.unknownURL
        }
        let zone = ticket.place.zone
        let context = OperationContext.bearer(
            .assetsUpload, of: user, zone: zone, requestID: requestID, now: now)
        let access = try ZoneAccess.open(zone.identifier, context, reader)
        try AssetAccess.requireWrite(
            ticket.place.record, type: ticket.type, access, context, reader)
        guard !zone.database.isPublic else { return }
        let quota =
            try reader.user(zone.database.owner)?.quotaBytes ?? service.settings.quotaBytes
        let used = try reader.usedBytes(zone.database.owner)
        guard size <= quota - used else {
            throw ServerError(
                .quotaExceeded,
                "The asset does not fit into the \(quota) bytes of the database's owner.")
        }
    }
}
