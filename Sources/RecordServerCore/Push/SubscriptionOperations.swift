import RecordModel
import RecordWire

/// Answers the operations on subscriptions.
struct SubscriptionOperations: Sendable {
    let resources: ServiceResources

    func listSubscriptions(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> [UInt8]
    {
        let key = try subscriptionKey(context)
        let rows = try await resources.storage.read { reader throws(ServerError) in
            try reader.subscriptions(key)
        }
        return answer(rows.map { .dictionary($0.dictionary) }, context)
    }

    func lookupSubscriptions(_ body: JSONValue, _ context: OperationContext)
        async throws(ServerError) -> [UInt8]
    {
        let key = try subscriptionKey(context)
        let ids = try WireSubscription.lookupList(
            JSONReader(body), limits: resources.settings.requestLimits)
        let items = try await resources.storage.read { reader throws(ServerError) in
            var items: [SubscriptionAnswer] = []
            for id in ids {
                let row = try reader.subscription(key, id)
                items.append(row.map { .dictionary($0.dictionary) } ?? .notFound(id))
            }
            return items
        }
        return answer(items, context)
    }

    /// Tries all operations, in order. Each has its own result.
    func modifySubscriptions(_ body: JSONValue, _ context: OperationContext)
        async throws(ServerError) -> [UInt8]
    {
        let key = try subscriptionKey(context)
        let operations = try SubscriptionOperation.list(
            JSONReader(body), limits: resources.settings.requestLimits)
        let maximum = resources.push.settings.subscriptionsPerUser
        let mintedIDs = operations.map { _ in RequestIdentifier.make() }
        let items = try await resources.storage.write { transaction throws(ServerError) in
            let editor = SubscriptionEditor(
                key: key, context: context, maximum: maximum, transaction: transaction)
            var items: [SubscriptionAnswer] = []
            for (operation, id) in zip(operations, mintedIDs) {
                items.append(try editor.perform(operation, mintedID: id))
            }
            return items
        }
        return answer(items, context)
    }

    private func subscriptionKey(_ context: OperationContext) throws(ServerError)
        -> SubscriptionKey
    {
        SubscriptionKey(
            container: context.container, user: try context.requireUser().name,
            scope: context.scope)
    }

    private func answer(_ items: [SubscriptionAnswer], _ context: OperationContext) -> [UInt8] {
        AnswerWriter.object { answer in
            answer.member(
                "subscriptions",
                array: { answer in
                    for item in items { item.write(to: &answer, requestID: context.requestID) }
                })
        }
    }
}

/// One item of an answer of subscriptions/*.
enum SubscriptionAnswer: Sendable {
    case dictionary([UInt8])
    case deleted(Text)
    case failed(Text, ServerError)

    static func notFound(_ id: Text) -> SubscriptionAnswer {
        .failed(
            id, ServerError(.notFound, "This user has no such subscription in this database."))
    }

    func write(to answer: inout AnswerWriter, requestID: Text) {
        switch self {
        case .dictionary(let bytes): answer.splice(bytes)
        case .deleted(let id):
            answer.object { answer in answer.member("subscriptionID", id) }
        case .failed(let id, let error):
            answer.value(error.item(subscriptionID: id, requestID: requestID))
        }
    }
}
