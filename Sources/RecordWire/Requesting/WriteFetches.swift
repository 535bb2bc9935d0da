import RecordModel

extension LookupRequest: AnswerValue {
    /// Prints the body of records/lookup.
    package func write(to answer: inout AnswerWriter) {
        answer.object { answer in
            answer.member("records", items)
            answer.member("zoneID", zone)
            projection.writeMembers(to: &answer)
            if wantsSyncToken { answer.member("getCurrentSyncToken", true) }
        }
    }
}

extension LookupRequest.Item: AnswerValue {
    package func write(to answer: inout AnswerWriter) {
        answer.object { answer in
            answer.member("recordName", name)
            if let desiredKeys { answer.member("desiredKeys", desiredKeys) }
        }
    }
}

extension HistoryRequest: AnswerValue {
    /// Prints the body of records/history.
    package func write(to answer: inout AnswerWriter) {
        answer.object { answer in
            answer.member("zoneID", zone)
            answer.member("recordName", name)
            answer.member("resultsLimit", resultsLimit)
            answer.member("continuationMarker", before.map { Text(String($0, radix: 36)) })
        }
    }
}

extension QueryRequest: AnswerValue {
    /// Prints the body of records/query.
    package func write(to answer: inout AnswerWriter) {
        answer.object { answer in
            answer.member("query", query)
            answer.member("zoneID", zone)
            if zoneWide { answer.member("zoneWide", true) }
            answer.member("resultsLimit", resultsLimit)
            answer.member("continuationMarker", continuationMarker)
            projection.writeMembers(to: &answer)
            if wantsSyncToken { answer.member("getCurrentSyncToken", true) }
        }
    }
}

extension ZoneChangesRequest: AnswerValue {
    /// Prints one zone of changes/zone, and the body of records/changes.
    package func write(to answer: inout AnswerWriter) {
        answer.object { answer in
            answer.member("zoneID", object: zone.writeNames)
            answer.member("syncToken", syncToken)
            projection.writeMembers(to: &answer)
            if let desiredRecordTypes { answer.member("desiredRecordTypes", desiredRecordTypes) }
            if reverse { answer.member("reverse", true) }
            answer.member("resultsLimit", resultsLimit)
        }
    }

    /// Returns the body of changes/zone.
    package static func body(
        _ requests: [ZoneChangesRequest], _ extensions: FeedKeys = FeedKeys()
    ) -> [UInt8] {
        AnswerWriter.object { answer in
            answer.member("zones", requests)
            extensions.writeMembers(to: &answer)
        }
    }
}

extension DatabaseChangesRequest {
    /// Returns the body of changes/database.
    package func body(_ extensions: FeedKeys = FeedKeys()) -> [UInt8] {
        AnswerWriter.object { answer in
            answer.member("syncToken", syncToken)
            answer.member("resultsLimit", resultsLimit)
            extensions.writeMembers(to: &answer)
        }
    }
}

extension ZoneIdentifier {
    /// Returns the body of zones/lookup.
    package static func lookupBody(_ zones: [ZoneIdentifier]) -> [UInt8] {
        AnswerWriter.object { $0.member("zones", zones) }
    }
}

extension ShortGUIDRequest: AnswerValue {
    package func write(to answer: inout AnswerWriter) {
        answer.object { answer in
            answer.member("value", value)
            if shouldFetchRootRecord { answer.member("shouldFetchRootRecord", true) }
            if let rootRecordDesiredKeys {
                answer.member("rootRecordDesiredKeys", rootRecordDesiredKeys)
            }
        }
    }

    /// Returns the body of records/resolve and records/accept.
    package static func body(_ requests: [ShortGUIDRequest]) -> [UInt8] {
        AnswerWriter.object { $0.member("shortGUIDs", requests) }
    }
}
