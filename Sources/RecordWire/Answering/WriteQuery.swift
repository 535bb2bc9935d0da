import RecordModel

extension WireQuery: AnswerValue {
    /// Prints the query dictionary in the form of a request.
    package func write(to answer: inout AnswerWriter) {
        answer.object { answer in
            answer.member("recordType", recordType)
            answer.member("filterBy", filters)
            if !sorts.isEmpty { answer.member("sortBy", sorts) }
        }
    }
}

extension QueryField {
    fileprivate func write(to answer: inout AnswerWriter) {
        switch self {
        case .field(let name): answer.member("fieldName", name)
        case .system(let field): answer.member("systemFieldName", field.rawValue)
        }
    }
}

extension QueryFilter: AnswerValue {
    package func write(to answer: inout AnswerWriter) {
        answer.object { answer in
            answer.member("comparator", comparator.rawValue)
            field.write(to: &answer)
            answer.member("fieldValue", value)
            answer.member("distance", distance)
        }
    }
}

extension QuerySort: AnswerValue {
    package func write(to answer: inout AnswerWriter) {
        answer.object { answer in
            field.write(to: &answer)
            answer.member("ascending", ascending)
            answer.member("relativeLocation", relativeLocation)
        }
    }
}

extension WireSubscription: AnswerValue {
    /// Prints the subscription dictionary in the form in which it is stored and answered.
    package func write(to answer: inout AnswerWriter) {
        answer.object { answer in
            answer.member("subscriptionID", subscriptionID)
            answer.member("subscriptionType", kind.rawValue)
            answer.member("zoneID", zone)
            answer.member("query", query)
            if !firesOn.isEmpty {
                answer.member("firesOn", Event.allCases.filter(firesOn.contains).map(\.rawValue))
            }
            if kind == .query {
                answer.member("firesOnce", firesOnce)
                answer.member("zoneWide", zoneWide)
            }
            answer.member("notificationInfo", notificationInfo)
        }
    }
}
