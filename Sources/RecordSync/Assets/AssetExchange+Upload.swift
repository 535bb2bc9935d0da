import RecordModel
import RecordStore
import RecordStoreSync
import RecordWire

extension AssetExchange {
    /// Returns the server's description of the assets of these changes. Bytes that the server does
    /// not have are uploaded. For a change whose assets cannot be uploaded, `results` gets the
    /// reason.
    func bringAssets(
        of claims: [OutboxClaim], _ zone: SyncedZone, _ results: inout UploadResults
    ) async throws(SyncProblem) -> [OutgoingAsset.Place: WireAsset] {
        var known: [OutgoingAsset.Place: WireAsset] = [:]
        var missing: [OutgoingAsset] = []
        for claim in claims {
            for asset in try assets(of: claim, &results) {
                if asset.isThere, exchange.settings.hasExtensions {
                    known[asset.place] = asset.wire
                } else if let receipt = exchange.receipts.find(asset, zone.id) {
                    known[asset.place] = asset.complete(receipt)
                    results.noteKeptReceipt(asset.place.record)
                } else if asset.isThere, let wire = try await rereferenced(asset) {
                    // A description that was downloaded is never sent back unchanged.
                    known[asset.place] = wire
                } else {
                    missing.append(asset)
                }
            }
        }
        var files: [(asset: OutgoingAsset, file: OutgoingFile)] = []
        for asset in missing where results.isOpen(asset.place.record) {
            if let file = try file(of: asset, &results) {
                files.append((asset, file))
            } else if results.isOpen(asset.place.record) {
                known[asset.place] = try await rereference(asset, zone, &results)
            }
        }
        for start in stride(from: 0, to: files.count, by: Self.tokensOfRequest) {
            let part = files[start..<min(start + Self.tokensOfRequest, files.count)]
            let brought = try await bring(Array(part), zone, &results)
            known.merge(brought) { $1 }
        }
        return known
    }

    private static var tokensOfRequest: Int { 200 }

    private func assets(
        of claim: OutboxClaim, _ results: inout UploadResults
    ) throws(SyncProblem) -> [OutgoingAsset] {
        do throws(SyncProblem) {
            return try exchange.read { (store) throws(RecordError) in try claim.assets(store) }
        } catch {
            guard error.isAboutBytes else { throw error }
            results.park(claim.row.name, "\(error)")
            return []
        }
    }

    /// Returns the file to send. Returns nil when the bytes are not on this machine, or are not the
    /// expected ones.
    private func file(
        of asset: OutgoingAsset, _ results: inout UploadResults
    ) throws(SyncProblem) -> OutgoingFile? {
        do throws(SyncProblem) {
            return try exchange.read { (store) throws(RecordError) in
                if let content = asset.content {
                    let file = try TemporaryBytes(
                        content, path: store.assets.pathForUnfinishedAsset())
                    return OutgoingFile(path: file.path, size: asset.size, keeper: file)
                }
                guard store.assets.sizeOfAsset(asset.hash) != nil else { return nil }
                try store.assets.checkAsset(asset.hash, size: asset.size)
                return OutgoingFile(path: store.assets.assetPath(asset.hash), size: asset.size)
            }
        } catch {
            guard error.isAboutBytes else { throw error }
            results.park(asset.place.record, "\(error)")
            return nil
        }
    }

    private func bring(
        _ files: [(asset: OutgoingAsset, file: OutgoingFile)], _ zone: SyncedZone,
        _ results: inout UploadResults
    ) async throws(SyncProblem) -> [OutgoingAsset.Place: WireAsset] {
        let request = AssetUploadBody(
            zone: ZoneIdentifier(zone),
            tokens: files.map { (asset, _) in
                AssetUploadRequest(
                    recordName: asset.place.record, recordType: asset.type,
                    fieldName: asset.place.field)
            })
        let tokens = try await exchange.transport.send(.assetsUpload, exchange.scope, request.bytes)
        {
            json throws(ServerError) in try UploadToken.list(json)
        }
        // All elements of a list have one field name: each takes the next address.
        var left = files
        var jobs: [(asset: OutgoingAsset, file: OutgoingFile, url: String)] = []
        for token in tokens {
            switch token {
            case .url(let record, let field, let url):
                let place = left.firstIndex {
                    $0.asset.place.record == record && $0.asset.place.field == field
                }
                guard let place else { continue }
                let (asset, file) = left.remove(at: place)
                jobs.append((asset, file, url.string))
            case .failed(let record?, _, let error): results.fail(record, error)
            case .failed(nil, _, let error): throw .refused(error)
            }
        }
        return try await send(jobs, zone, &results)
    }

    private func send(
        _ jobs: [(asset: OutgoingAsset, file: OutgoingFile, url: String)], _ zone: SyncedZone,
        _ results: inout UploadResults
    ) async throws(SyncProblem) -> [OutgoingAsset.Place: WireAsset] {
        let width = exchange.settings.parallelAssets
        let outcomes = await withTaskGroup(of: (Int, Result<WireAsset, SyncProblem>).self) {
            group in
            var outcomes: [(Int, Result<WireAsset, SyncProblem>)] = []
            for (number, job) in jobs.enumerated() {
                if number >= width, let outcome = await group.next() { outcomes.append(outcome) }
                group.addTask { (number, await self.send(job.file, to: job.url)) }
            }
            for await outcome in group { outcomes.append(outcome) }
            return outcomes
        }
        var brought: [OutgoingAsset.Place: WireAsset] = [:]
        var problem: SyncProblem?
        for (number, outcome) in outcomes {
            let asset = jobs[number].asset
            switch outcome {
            case .success(let wire):
                let isWhole = wire.isOf(asset.hash) || !exchange.settings.hasExtensions
                guard isWhole, wire.size == asset.size else {
                    results.park(
                        asset.place.record,
                        "The server has stored other bytes of \(asset.place.field) than were sent.")
                    continue
                }
                try note(wire, asset.hash)
                exchange.receipts.keep(wire, of: asset, zone.id)
                brought[asset.place] = asset.complete(wire)
            case .failure(.refused(let error)) where error.code == .notFound:
                // The address has expired, but the record is still valid: the next attempt asks for
                // another address.
                continue
            case .failure(.refused(let error)): results.fail(asset.place.record, error)
            case .failure(let error): problem = error
            }
        }
        if let problem { throw problem }
        return brought
    }

    private func send(
        _ file: OutgoingFile, to url: String
    ) async -> Result<WireAsset, SyncProblem> {
        do throws(SyncProblem) {
            let answer = try await exchange.transport.upload(file, to: url)
            do throws(ServerError) {
                return .success(try WireAsset(uploaded: JSONReader(answer)))
            } catch {
                throw .unreadable("assets/up: \(error.reason)")
            }
        } catch {
            return .failure(error)
        }
    }

    /// Refers to bytes that only the server has, for example after `mv` of a record whose asset was
    /// never read. The bytes are found in another record on the server, or else in a record that
    /// had them before.
    private func rereference(
        _ asset: OutgoingAsset, _ zone: SyncedZone, _ results: inout UploadResults
    ) async throws(SyncProblem) -> WireAsset? {
        if let wire = try await rereferenced(asset) { return wire }
        if let wire = try await former(asset, zone) { return wire }
        results.missBytes(of: asset.place.field, asset.place.record)
        return nil
    }

    /// Returns the asset with bytes from another record on the server. Returns nil when no record
    /// has them.
    private func rereferenced(
        _ asset: OutgoingAsset
    ) async throws(SyncProblem) -> WireAsset? {
        for (zone, holders) in try holders(of: asset.hash) {
            let request = RereferenceBody(
                zone: ZoneIdentifier(zone),
                assets: holders.map {
                    RereferenceBody.Item(recordName: $0.record, fieldName: $0.field)
                })
            let items = try await send(request)
            if let wire = try first(items, asset) { return wire }
        }
        return nil
    }

    /// Refers to bytes that are no longer in a record of the server: another machine deleted the
    /// record, or replaced the value, while this machine edited it. The server keeps such bytes for
    /// some time. Returns nil when it does not have them.
    ///
    /// This works only in the owner's own database. Servers refuse it to others, and servers that
    /// do not know the key refuse it too.
    private func former(
        _ asset: OutgoingAsset, _ zone: SyncedZone
    ) async throws(SyncProblem) -> WireAsset? {
        guard exchange.settings.hasExtensions, exchange.database == .private else { return nil }
        let item = RereferenceBody.Item(
            recordName: asset.place.record, fieldName: asset.place.field,
            fileChecksum: AssetChecksum.fileChecksum(asset.hash))
        let items = try await send(
            RereferenceBody(zone: ZoneIdentifier(zone), assets: [item]))
        return try first(items, asset)
    }

    private func send(
        _ request: RereferenceBody
    ) async throws(SyncProblem) -> [RereferencedAsset] {
        try await exchange.transport.send(.assetsRereference, exchange.scope, request.bytes) {
            json throws(ServerError) in try RereferencedAsset.list(json)
        }
    }

    /// Returns the first item that has the bytes.
    private func first(
        _ items: [RereferencedAsset], _ asset: OutgoingAsset
    ) throws(SyncProblem) -> WireAsset? {
        for case .asset(_, _, let wire) in items where wire.size == asset.size {
            if try isSame(wire, asset.hash) { return asset.complete(wire) }
        }
        return nil
    }
}

extension AssetExchange {
    /// Returns the records on the server that have these bytes, by zone.
    func holders(
        of hash: ContentHash
    ) throws(SyncProblem) -> [(zone: SyncedZone, holders: [AssetHolder])] {
        let all = try exchange.read { (store) throws(RecordError) in
            try store.assets.recordsOfServer(with: hash)
        }
        var zones: [(zone: SyncedZone, holders: [AssetHolder])] = []
        for (id, holders) in Dictionary(grouping: all, by: \.zone).sorted(by: {
            $0.key.rawValue < $1.key.rawValue
        }) {
            if let zone = try exchange.zone(id) { zones.append((zone, holders)) }
        }
        return zones
    }
}

extension SyncProblem {
    /// Indicates whether bytes that are to be sent are damaged or missing on this machine.
    fileprivate var isAboutBytes: Bool {
        guard case .store(let error) = self else { return false }
        return error.code == .corrupt || error.code == .unavailable
    }
}
