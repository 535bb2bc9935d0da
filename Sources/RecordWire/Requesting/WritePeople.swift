package import RecordModel

extension UserLookup {
    /// Returns the body of users/discover.
    package static func discoverBody(_ lookups: [UserLookup]) -> [UInt8] {
        AnswerWriter.object { $0.member("lookupInfos", lookups) }
    }

    /// Returns the body of the older users/lookup endpoints.
    package static func legacyBody(_ lookups: [UserLookup]) -> [UInt8] {
        AnswerWriter.object { $0.member("users", lookups) }
    }
}

extension WireSubscription {
    /// Returns the body of subscriptions/lookup.
    package static func lookupBody(_ ids: [Text]) -> [UInt8] {
        AnswerWriter.object { answer in
            answer.member(
                "subscriptions",
                array: { answer in
                    for id in ids { answer.object { $0.member("subscriptionID", id) } }
                })
        }
    }
}
