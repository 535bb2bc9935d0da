import RecordModel

extension RecordDictionary: AnswerValue {
    /// Prints the record dictionary of a request.
    package func write(to answer: inout AnswerWriter) {
        answer.object { answer in
            answer.member("recordName", name)
            answer.member("recordType", type)
            answer.member("recordChangeTag", changeTag)
            if !fields.isEmpty { answer.member("fields", object: writeFields) }
            switch parent {
            case .unchanged: break
            case .cleared: answer.member("parent", JSONValue.null)
            case .record(let name):
                answer.member("parent", object: { $0.member("recordName", name) })
            }
            if createShortGUID { answer.member("createShortGUID", true) }
            answer.member("fileText", fileText)
            if let fileTextSplice {
                answer.key("fileTextSplice")
                fileTextSplice.write(to: &answer)
            }
            answer.member("gesture", gesture)
            share?.writeMembers(to: &answer)
            if let movedTo { answer.member("movedTo", movedTo) }
        }
    }

    private func writeFields(_ answer: inout AnswerWriter) {
        for field in fields {
            answer.key(escaping: field.name.bytes)
            field.write(to: &answer)
        }
    }
}

extension ShareDictionary {
    /// Prints the keys that only the record of a share has.
    fileprivate func writeMembers(to answer: inout AnswerWriter) {
        if let root {
            answer.member(
                "forRecord",
                object: { answer in
                    answer.member("recordName", root)
                    answer.member("recordChangeTag", rootChangeTag)
                })
        }
        answer.member("publicPermission", publicPermission?.rawValue)
        if let participants { answer.member("participants", participants) }
        writeAccess(to: &answer)
    }
}

extension ParticipantDictionary: AnswerValue {
    package func write(to answer: inout AnswerWriter) {
        answer.object { answer in
            answer.member("participantId", participantID)
            if !lookup.isEmpty {
                answer.member(
                    "userIdentity",
                    object: { answer in
                        answer.member("userRecordName", lookup.userName)
                        answer.member("lookupInfo", lookup)
                    })
            }
            answer.member("type", type?.rawValue)
            answer.member("permission", permission?.rawValue)
            answer.member("acceptanceStatus", status?.rawValue)
        }
    }
}

extension UserLookup: AnswerValue {
    /// Prints the lookupInfo dictionary.
    package func write(to answer: inout AnswerWriter) {
        answer.object { answer in
            answer.member("emailAddress", emailAddress)
            answer.member("phoneNumber", phoneNumber)
            answer.member("userRecordName", userName)
        }
    }
}
