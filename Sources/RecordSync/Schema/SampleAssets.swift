import RecordModel
import RecordWire

/// The assets of representative records.
enum SampleAssets {
    struct Place: Hashable, Sendable {
        let record: RecordName
        let field: FieldName
    }

    /// The uploads that run side by side.
    static let width = 8
}

extension SchemaInitialisation {
    /// Uploads an asset for each field that has one.
    ///
    /// - Parameter path: the name of a new file, which is removed at the end.
    func uploadAssets(
        of samples: [SchemaSample], path: String
    ) async throws(SyncProblem) -> [SampleAssets.Place: WireAsset] {
        let bytes: TemporaryBytes
        do throws(RecordError) {
            bytes = try TemporaryBytes(SchemaSample.assetBytes, path: path)
        } catch {
            throw .store(error)
        }
        let file = OutgoingFile(
            path: bytes.path, size: Int64(SchemaSample.assetBytes.count), keeper: bytes)
        let wanted = samples.flatMap { sample in
            sample.assetFields.map {
                AssetUploadRequest(
                    recordName: sample.name, recordType: sample.type, fieldName: $0)
            }
        }
        var assets: [SampleAssets.Place: WireAsset] = [:]
        for start in stride(from: 0, to: wanted.count, by: Self.recordsOfRequest) {
            let part = wanted[start..<min(start + Self.recordsOfRequest, wanted.count)]
            let addresses = try await addresses(for: Array(part))
            assets.merge(try await upload(file, to: addresses)) { $1 }
        }
        guard assets.count == wanted.count else {
            throw .unreadable("assets/upload took \(assets.count) of \(wanted.count) assets.")
        }
        return assets
    }

    private func addresses(
        for wanted: [AssetUploadRequest]
    ) async throws(SyncProblem) -> [(SampleAssets.Place, String)] {
        try checkInterruption()
        let request = AssetUploadBody(zone: zone, tokens: wanted)
        let tokens = try await send(.assetsUpload, request.bytes) { json throws(ServerError) in
            try UploadToken.list(json)
        }
        var addresses: [(SampleAssets.Place, String)] = []
        for token in tokens {
            switch token {
            case .url(let record, let field, let url):
                addresses.append((SampleAssets.Place(record: record, field: field), url.string))
            case .failed(_, _, let error): throw .refused(error)
            }
        }
        return addresses
    }

    private func upload(
        _ file: OutgoingFile, to addresses: [(SampleAssets.Place, String)]
    ) async throws(SyncProblem) -> [SampleAssets.Place: WireAsset] {
        typealias Outcome = (SampleAssets.Place, Result<WireAsset, SyncProblem>)
        let outcomes = await withTaskGroup(of: Outcome.self) { group in
            var outcomes: [Outcome] = []
            for (number, (place, url)) in addresses.enumerated() {
                if number >= SampleAssets.width, let outcome = await group.next() {
                    outcomes.append(outcome)
                }
                group.addTask { (place, await self.upload(file, to: url)) }
            }
            for await outcome in group { outcomes.append(outcome) }
            return outcomes
        }
        var assets: [SampleAssets.Place: WireAsset] = [:]
        for (place, outcome) in outcomes { assets[place] = try outcome.get() }
        return assets
    }

    private func upload(
        _ file: OutgoingFile, to url: String
    ) async -> Result<WireAsset, SyncProblem> {
        do throws(SyncProblem) {
            try checkInterruption()
            let answer = try await transport.upload(file, to: url)
            do throws(ServerError) {
                var asset = try WireAsset(uploaded: JSONReader(answer))
                asset.sha256 = nil
                asset.downloadURL = nil
                return .success(asset)
            } catch {
                throw .unreadable("assets/up: \(error.reason)")
            }
        } catch {
            return .failure(error)
        }
    }
}
