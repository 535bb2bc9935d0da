import RecordModel
import RecordWire

/// Answers records/query.
struct RecordQueries: Sendable {
    let resources: ServiceResources

    /// Answers records/query (CloudKit Web Services Reference, Fetching Records Using a Query). A
    /// page can be shorter than asked for, also empty: only an answer without continuation marker
    /// is the last.
    func queryRecords(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> Answer
    {
        let request = try QueryRequest(JSONReader(body), limits: resources.settings.requestLimits)
        return try await resources.storage.read { reader throws(ServerError) in
            let zones = try Self.zones(of: request, context, reader)
            let schema = try ContainerSchema.current(context.container, reader)
            let evaluator = try QueryEvaluator(query: request.query, schema: schema)
            try zones.first?.decide(.search(request.query.recordType)).require()
            let identity = QueryMarker.identity(request, context)
            let marker = try request.continuationMarker.map { marker throws(ServerError) in
                try QueryMarker.open(
                    marker, identity: identity, order: evaluator.order, resources.seal)
            }
            let page = try QueryPage.search(
                evaluator, zones: zones, after: marker, count: request.resultsLimit,
                limits: QueryLimits(), memory: context.memory, reader)
            var printers = zones.map { zone in
                RecordPrinter(
                    resources: resources, access: zone.access, context: context,
                    projection: request.projection, reader: reader)
            }
            return try AnswerWriter.answer(capacity: 512 * page.items.count + 256) {
                answer throws(ServerError) in
                try answer.member(
                    "records",
                    array: { answer throws(ServerError) in
                        for item in page.items {
                            try printers[item.zone].write(item.record, to: &answer)
                            try context.hold(answer.count)
                        }
                    })
                if let next = page.next {
                    answer.member(
                        "continuationMarker",
                        QueryMarker.seal(next, identity: identity, resources.seal))
                }
                if context.wantsSyncToken || request.wantsSyncToken, context.scope != .public,
                    let zone = zones.first, zones.count == 1
                {
                    answer.member(
                        "syncToken", ZoneToken.current(zone.access).sealed(resources.seal))
                }
            }
        }
    }

    /// Returns one zone, or with `zoneWide` all zones of the database.
    private static func zones(
        of request: QueryRequest, _ context: OperationContext, _ reader: any StorageReader
    ) throws(ServerError) -> [RecordVisibility] {
        var accesses: [ZoneAccess] = []
        if let zone = request.zone {
            accesses = [try ZoneAccess.open(zone, context, reader)]
        } else if !request.zoneWide || context.scope == .public {
            accesses = [try ZoneAccess.open(.defaultZone, context, reader)]
        } else {
            let user = try context.requireUser()
            let keys =
                switch context.scope {
                case .shared:
                    try reader.sharedZones(user.name, context.container).map(\.zone)
                case .private, .public:
                    try reader.zones(
                        DatabaseKey(container: context.container, owner: user.name)
                    ).map(\.key)
                }
            for key in keys {
                let id = ZoneIdentifier(zone: key.zone, owner: key.database.owner)
                accesses.append(try ZoneAccess.open(id, context, reader))
            }
        }
        var zones: [RecordVisibility] = []
        for access in accesses {
            zones.append(try RecordVisibility(access, context, reader))
        }
        return zones
    }
}
