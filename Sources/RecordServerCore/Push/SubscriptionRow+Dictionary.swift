import RecordModel
import RecordWire

extension SubscriptionRow {
    init(_ subscription: WireSubscription, key: SubscriptionKey) {
        var answer = AnswerWriter()
        answer.value(subscription)
        self.init(
            key: key, subscriptionID: subscription.subscriptionID, dictionary: answer.bytes)
    }

    /// Parses the dictionary.
    ///
    /// - Throws: internalError, because only this server wrote it.
    func subscription() throws(ServerError) -> WireSubscription {
        do throws(RecordError) {
            let json = try JSONParser.parse(dictionary)
            do throws(ServerError) {
                return try WireSubscription(JSONReader(json))
            } catch {
                throw RecordError(.corrupt, error.reason)
            }
        } catch {
            throw ServerError(.internalError, "A stored subscription is damaged.")
        }
    }
}

extension WireSubscription {
    /// Returns whether both subscriptions notify of the same changes: a user has only one of them
    /// (Protocol, "Subscriptions and push").
    func tellsTheSame(as other: WireSubscription) -> Bool {
        kind == other.kind && zone == other.zone && query == other.query
            && firesOn == other.firesOn && (zone != nil || zoneWide == other.zoneWide)
    }
}
