import RecordModel
package import RecordWire

/// Makes the development schema of an account's container hold a schema: uploads a representative
/// record of each type, and deletes it.
///
/// The names of these records are the same in every run. So a run first deletes what an interrupted
/// one has left, whatever its schema was and whichever machine it was on.
package struct SchemaInitialisation: Sendable {
    /// The result of a run.
    package struct Outcome: Hashable, Sendable {
        /// Indicates whether the zone was made.
        package let hasMadeZone: Bool
        /// The number of records of an interrupted run that were deleted.
        package let leftovers: Int

        package init(hasMadeZone: Bool, leftovers: Int) {
            self.hasMadeZone = hasMadeZone
            self.leftovers = leftovers
        }
    }

    let transport: any SyncTransport
    let zone: ZoneIdentifier
    /// Returns whether somebody wants the run to end early.
    let isInterrupted: @Sendable () -> Bool

    /// The largest numbers of records and of fields in one request.
    static let recordsOfRequest = 200
    private static let fieldsOfRequest = 2_000

    package init(
        _ transport: any SyncTransport, zone: ZoneIdentifier,
        isInterrupted: @escaping @Sendable () -> Bool = { false }
    ) {
        self.transport = transport
        self.zone = zone
        self.isInterrupted = isInterrupted
    }

    /// Uploads the records and deletes them.
    ///
    /// - Parameter assetPath: the name of a new file, which is removed at the end.
    /// - Throws: the refusals of the server. The records are deleted, or the problem says that they
    ///   are not.
    package func run(
        _ samples: [SchemaSample], assetPath: String
    ) async throws(SyncProblem) -> Outcome {
        let hasMadeZone = try await makeZone()
        let leftovers = try await removeLeftovers()
        do throws(SyncProblem) {
            let assets = try await uploadAssets(of: samples, path: assetPath)
            for part in Self.parts(of: samples) { try await upload(part, assets) }
        } catch {
            try await remove(samples, after: error)
            throw error
        }
        Failpoint.pass(.schemaSamplesUploaded)
        try await remove(samples, after: nil)
        return Outcome(hasMadeZone: hasMadeZone, leftovers: leftovers)
    }

    /// Returns whether the server has the zone.
    package func hasZone() async throws(SyncProblem) -> Bool {
        let items = try await send(.zonesLookup, ZoneIdentifier.lookupBody([zone])) {
            json throws(ServerError) in try ZoneItem.list(json)
        }
        switch items.first {
        case .zone: return true
        case .failed(_, let error) where error.code == .zoneNotFound || error.code == .notFound:
            return false
        case .failed(_, let error): throw .refused(error)
        case nil: throw .unreadable("zones/lookup names no zone.")
        }
    }

    private func makeZone() async throws(SyncProblem) -> Bool {
        if try await hasZone() { return false }
        let body = ZoneOperation.body([ZoneOperation(type: .create, zone: zone)])
        let items = try await send(.zonesModify, body) { json throws(ServerError) in
            try ZoneItem.list(json)
        }
        if case .failed(_, let error) = items.first { throw .refused(error) }
        return true
    }

    // MARK: Uploading

    /// Returns the records in parts of one request each.
    private static func parts(of samples: [SchemaSample]) -> [[SchemaSample]] {
        var parts: [[SchemaSample]] = []
        var fields = 0
        for sample in samples {
            fields += sample.fields.count
            let isFull =
                fields > fieldsOfRequest || parts.last.map { $0.count >= recordsOfRequest } ?? true
            if isFull {
                parts.append([])
                fields = sample.fields.count
            }
            parts[parts.count - 1].append(sample)
        }
        return parts
    }

    private func upload(
        _ samples: [SchemaSample], _ assets: [SampleAssets.Place: WireAsset]
    ) async throws(SyncProblem) {
        try checkInterruption()
        let operations = samples.map { sample in
            RecordOperation(
                type: .create,
                record: sample.record { field in
                    assets[SampleAssets.Place(record: sample.name, field: field)]
                })
        }
        let items = try await modify(operations, isAtomic: true)
        let wanted = Dictionary(
            samples.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var saved = 0
        for item in items {
            switch item {
            case .record(let answer):
                saved += 1
                if let sample = wanted[answer.name] { try Self.check(answer, sample) }
            case .failed(_, let error) where error.code == .atomicError: continue
            case .failed(_, let error) where error.code == .exists || error.code == .conflict:
                throw .fruitless(
                    "another machine of this account makes the schema at the same time. Try again.")
            case .failed(_, let error): throw .refused(error)
            case .deleted: throw .unreadable("records/modify deleted what it was to make.")
            case .unreadable(let error): throw .unreadable("records/modify: \(error.reason)")
            }
        }
        guard saved == samples.count else {
            throw .unreadable("records/modify answered to \(saved) of \(samples.count) records.")
        }
    }

    /// Refuses an answer with a field of another type: the server has coerced the value, because its
    /// schema knows the field by that type.
    private static func check(
        _ answer: RecordAnswer, _ sample: SchemaSample
    ) throws(SyncProblem) {
        let types = Dictionary(
            sample.fields.map { ($0.name, $0.type) }, uniquingKeysWith: { first, _ in first })
        for field in answer.fields where field.isTagged {
            guard let type = field.type, let wanted = types[field.name], type != wanted else {
                continue
            }
            throw .fruitless(
                "\(sample.type).\(field.name) is \(type.name) on the server, and would be "
                    + "\(wanted.name).")
        }
    }

    // MARK: Deleting

    /// Deletes the records of a run.
    ///
    /// - Parameter problem: the end of the run, when it has failed.
    /// - Throws: that the records are left.
    private func remove(
        _ samples: [SchemaSample], after problem: SyncProblem?
    ) async throws(SyncProblem) {
        do throws(SyncProblem) {
            try await remove(samples.map(\.name))
        } catch {
            let reason = problem.map { "\($0) And then: " } ?? ""
            throw .fruitless(
                "\(reason)\(error) Sample records may be left in the zone \(zone.zone): the next "
                    + "recordfs schema init deletes them.")
        }
    }

    /// Deletes records, the last ones first: as long as one is left, the first one is.
    private func remove(_ names: [RecordName]) async throws(SyncProblem) {
        var rest = names[...]
        while !rest.isEmpty {
            let part = rest.suffix(Self.recordsOfRequest)
            rest = rest.dropLast(part.count)
            let operations = part.map {
                RecordOperation(type: .forceDelete, record: RecordDictionary(name: $0))
            }
            for case .failed(_, let error) in try await modify(operations, isAtomic: false)
            where error.code != .notFound {
                throw .refused(error)
            }
        }
    }

    /// Deletes the records that an interrupted run has left, and returns how many there were.
    package func removeLeftovers() async throws(SyncProblem) -> Int {
        let names = try await leftovers()
        try await remove(names)
        return names.count
    }

    private func leftovers() async throws(SyncProblem) -> [RecordName] {
        var names: [RecordName] = []
        while true {
            try checkInterruption()
            let numbers = names.count + 1...names.count + Self.recordsOfRequest
            let found = try await leftovers(numbers)
            names += found
            // A part with a gap is the last one.
            guard found.count == numbers.count else { return names }
        }
    }

    private func leftovers(_ numbers: ClosedRange<Int>) async throws(SyncProblem) -> [RecordName] {
        var request = LookupRequest(
            items: numbers.map {
                LookupRequest.Item(
                    name: SchemaSample.name($0), desiredKeys: [SchemaSample.markField])
            }, zone: zone)
        request.projection.desiredKeys = [SchemaSample.markField]
        let answer = try await send(.recordsLookup, request.bytes) { json throws(ServerError) in
            try RecordsAnswer(json)
        }
        var names: [RecordName] = []
        for item in answer.items {
            switch item {
            case .record(let record):
                guard record.isSample else {
                    throw .fruitless(
                        "the record \(record.name) in the zone \(zone.zone) has the name of a "
                            + "sample record, and is none. Give it another name.")
                }
                names.append(record.name)
            case .failed(_, let error) where error.code == .notFound: continue
            case .failed(_, let error): throw .refused(error)
            case .deleted: continue
            case .unreadable(let error): throw .unreadable("records/lookup: \(error.reason)")
            }
        }
        return names
    }

    // MARK: Requests

    private func modify(
        _ operations: [RecordOperation], isAtomic: Bool
    ) async throws(SyncProblem) -> [RecordItem] {
        var request = ModifyRequest(items: operations.map { .operation($0) }, zone: zone)
        // The default zone takes no such request.
        request.atomic = isAtomic && zone.zone != ZoneIdentifier.defaultZone.zone
        return try await send(.recordsModify, request.bytes) { json throws(ServerError) in
            try RecordsAnswer(json).items
        }
    }

    func send<Answer: Sendable>(
        _ operation: SyncOperation, _ body: [UInt8],
        reading read: (JSONReader) throws(ServerError) -> Answer
    ) async throws(SyncProblem) -> Answer {
        for _ in 1..<Self.attempts {
            do throws(SyncProblem) {
                return try await transport.send(operation, .private, body, reading: read)
            } catch {
                guard case .refused(let refusal) = error, let seconds = refusal.retryAfter,
                    seconds <= Self.longestWait
                else { throw error }
                try await Self.wait(seconds)
            }
        }
        return try await transport.send(operation, .private, body, reading: read)
    }

    /// The attempts at a request that the server asks to send later, and the longest wait before
    /// one, in seconds.
    private static let attempts = 5
    private static let longestWait = 60.0

    private static func wait(_ seconds: Double) async throws(SyncProblem) {
        do {
            try await Task.sleep(for: .seconds(seconds))
        } catch {
            throw .fruitless("it was interrupted.")
        }
    }

    func checkInterruption() throws(SyncProblem) {
        if isInterrupted() { throw .fruitless("it was interrupted.") }
    }
}

extension RecordAnswer {
    /// Indicates whether it is a representative record.
    fileprivate var isSample: Bool {
        fields.contains {
            $0.name == SchemaSample.markField && $0.value == .bytes(SchemaSample.mark)
        }
    }
}
