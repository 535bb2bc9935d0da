package import RecordModel
package import RecordWire

/// One request for the bytes of an asset, as the viewer that a sealed URL names.
package struct AssetRequest: Sendable {
    let resources: ServiceResources
    package let ticket: DownloadTicket
    let requestID: Text
    let now: Timestamp

    /// Opens the URL.
    ///
    /// - Throws: notFound for a URL that this server did not make, or whose time has passed.
    package init(token: Text, resources: ServiceResources, requestID: Text, now: Timestamp)
        throws(ServerError)
    {
        guard let ticket = DownloadTicket(token, seal: resources.seal),
            now.nanoseconds / 1_000_000 <= ticket.expiresMilliseconds
        else { throw Self.refusal }
        self.resources = resources
        self.ticket = ticket
        self.requestID = requestID
        self.now = now
    }

    /// The answer for URLs that are forged or expired and for assets that are revoked, deleted or
    /// replaced. It is the same for all.
    static let refusal = ServerError(
        .notFound, "There is no such asset, or its URL has expired: look the record up again.")

    /// Returns the asset, if the viewer may read the record now and the record refers to the asset
    /// now.
    package func row() async throws(ServerError) -> AssetRow {
        let row = try await resources.storage.read { reader throws(ServerError) in
            do throws(ServerError) {
                return try self.find(reader)
            } catch {
                guard Self.isRefusal(error) else { throw error }
                return nil
            }
        }
        guard let row else { throw Self.refusal }
        return row
    }

    private func find(_ reader: any StorageReader) throws(ServerError) -> AssetRow? {
        let viewer = try ticket.viewer.map { name throws(ServerError) in try reader.user(name) }
        if let viewer, viewer?.isDisabled ?? true { return nil }
        let zone = ticket.place.zone
        let context = OperationContext.bearer(
            .recordsLookup, of: viewer ?? nil, zone: zone, requestID: requestID, now: now)
        let access = try ZoneAccess.open(zone.identifier, context, reader)
        guard
            let record = try RecordVisibility(access, context, reader)
                .record(ticket.place.record, reader),
            try reader.refers(access.zone.handle, record.name, to: ticket.fileChecksum)
        else { return nil }
        return try reader.asset(zone.database, fileChecksum: ticket.fileChecksum)
    }

    private static func isRefusal(_ error: ServerError) -> Bool {
        switch error.code {
        case .zoneNotFound, .notFound, .accessDenied, .authenticationRequired, .badRequest: true
        default: false
        }
    }
}
