package import RecordModel

extension ShareDictionary {
    /// Prints the keys that `readAccess` reads.
    func writeAccess(to answer: inout AnswerWriter) {
        answer.member("denyAccessRequests", deniesAccessRequests)
        if let requesters {
            Self.write(requesters, "requesters", Self.requesterKey, to: &answer)
        }
        if let blocked { Self.write(blocked, "blocked", Self.blockedKey, to: &answer) }
        guard let oneTimeLinks else { return }
        answer.member(
            "oneTimeStableUrlInfo",
            object: { answer in
                answer.member(
                    "oneTimeLinks",
                    array: { answer in
                        for id in oneTimeLinks {
                            answer.object { $0.member("participantId", [id]) }
                        }
                    })
            })
    }

    private static func write(
        _ people: [UserLookup], _ key: String, _ entryKey: String, to answer: inout AnswerWriter
    ) {
        answer.member(
            key,
            array: { answer in
                for person in people {
                    answer.object { answer in
                        answer.member(
                            entryKey,
                            object: { answer in
                                answer.member("userRecordName", person.userName)
                                var addresses = person
                                addresses.userName = nil
                                if !addresses.isEmpty { answer.member("lookupInfo", addresses) }
                            })
                    }
                }
            })
    }
}

extension ShortGUIDRequest {
    /// Returns the body of records/requestAccess, an extension.
    package static func accessBody(_ value: Text) -> [UInt8] {
        body([ShortGUIDRequest(value: value)])
    }
}
