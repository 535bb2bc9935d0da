import RecordModel

extension RecordOperation: AnswerValue {
    package func write(to answer: inout AnswerWriter) {
        answer.object { answer in
            answer.member("operationType", type.rawValue)
            answer.member("record", record)
        }
    }
}

extension ModifyRequest: AnswerValue {
    /// Prints the body of records/modify. Malformed items are left out: they have nothing to send.
    package func write(to answer: inout AnswerWriter) {
        let operations = items.compactMap { item -> RecordOperation? in
            if case .operation(let operation) = item { operation } else { nil }
        }
        answer.object { answer in
            answer.member("operations", operations)
            answer.member("zoneID", object: zone.writeNames)
            answer.member("atomic", atomic)
            projection.writeMembers(to: &answer)
            answer.member("operationID", operationID)
            if wantsSyncToken { answer.member("getCurrentSyncToken", true) }
            if opensNumbers { answer.member("opensNumbers", true) }
            answer.member("knownSyncToken", knownToken)
            answer.member("knownDatabaseSyncToken", knownDatabaseToken)
            answer.member("clientId", clientID)
        }
    }
}

extension RecordProjection {
    /// Prints the keys of a request that select the parts of records, as far as they differ from
    /// the defaults.
    func writeMembers(to answer: inout AnswerWriter) {
        if let desiredKeys { answer.member("desiredKeys", desiredKeys) }
        if numbersAsStrings { answer.member("numbersAsStrings", true) }
        if wantsAssetDetails { answer.member("wantsAssetDetails", true) }
        if wantsFileText { answer.member("wantsFileText", true) }
        if wantsGestures { answer.member("wantsGestures", true) }
        if isBrief { answer.member("brief", true) }
        if wantsSplices { answer.member("wantsSplices", true) }
    }
}

extension ZoneOperation: AnswerValue {
    package func write(to answer: inout AnswerWriter) {
        answer.object { answer in
            answer.member("operationType", type.rawValue)
            answer.member("zone", object: { $0.member("zoneID", zone) })
            if onlyEmpty { answer.member("onlyEmpty", true) }
        }
    }

    /// Returns the body of zones/modify.
    package static func body(_ operations: [ZoneOperation]) -> [UInt8] {
        AnswerWriter.object { $0.member("operations", operations) }
    }
}

extension SubscriptionOperation: AnswerValue {
    package func write(to answer: inout AnswerWriter) {
        answer.object { answer in
            switch self {
            case .create(let subscription):
                answer.member("operationType", "create")
                answer.member("subscription", subscription)
            case .update(let subscription):
                answer.member("operationType", "update")
                answer.member("subscription", subscription)
            case .delete(let id):
                answer.member("operationType", "delete")
                answer.member("subscription", object: { $0.member("subscriptionID", id) })
            }
        }
    }

    /// Returns the body of subscriptions/modify.
    package static func body(_ operations: [SubscriptionOperation]) -> [UInt8] {
        AnswerWriter.object { $0.member("operations", operations) }
    }
}
