package import RecordModel

/// An error in an answer: of a whole request, or of one item of it (CloudKit Web Services
/// Reference, Error Codes).
package struct ErrorAnswer: Hashable, Sendable, AnswerValue {
    /// The subject of the error.
    package enum Subject: Hashable, Sendable {
        /// A whole request. The status reports the error too.
        case request
        /// A record. It is nil when the request named none that can be echoed.
        case record(RecordName?)
        case zone(ZoneIdentifier)
        case subscription(Text)
        case shortGUID(Text)
    }

    package let error: ServerError
    package let subject: Subject
    package let requestID: Text?
    package let dialect: AnswerDialect

    package init(
        _ error: ServerError, _ subject: Subject, requestID: Text?,
        dialect: AnswerDialect = .webServices
    ) {
        self.error = error
        self.subject = subject
        self.requestID = requestID
        self.dialect = dialect
    }

    package func write(to answer: inout AnswerWriter) {
        answer.object { answer in
            let isRequest = subject == .request
            if isRequest { answer.member("uuid", requestID) }
            writeSubject(to: &answer)
            answer.member("serverErrorCode", error.code.rawValue)
            answer.member("reason", error.reason)
            // Clients of iCloud's hosts know no other keys of an item.
            guard isRequest || dialect == .webServices else { return }
            if !isRequest { answer.member("uuid", requestID) }
            answer.member("retryAfter", error.retryAfter)
            answer.member("redirectURL", error.redirectURL)
            answer.member("serverRecord", error.serverRecord)
        }
    }

    private func writeSubject(to answer: inout AnswerWriter) {
        switch subject {
        case .request: break
        case .record(let name): answer.member("recordName", name)
        case .zone(let zone): answer.member("zoneID", zone)
        case .subscription(let id): answer.member("subscriptionID", id)
        case .shortGUID(let value):
            answer.member("shortGUID", object: { answer in answer.member("value", value) })
        }
    }
}

extension ServerError {
    /// Returns the error of one record of an answer.
    package func item(
        recordName: RecordName?, requestID: Text?, dialect: AnswerDialect = .webServices
    ) -> ErrorAnswer {
        ErrorAnswer(self, .record(recordName), requestID: requestID, dialect: dialect)
    }

    /// Returns the error of one zone of an answer.
    package func item(
        zone: ZoneIdentifier, requestID: Text? = nil, dialect: AnswerDialect = .webServices
    ) -> ErrorAnswer {
        ErrorAnswer(self, .zone(zone), requestID: requestID, dialect: dialect)
    }

    /// Returns the error of one subscription of an answer.
    package func item(subscriptionID: Text, requestID: Text? = nil) -> ErrorAnswer {
        ErrorAnswer(self, .subscription(subscriptionID), requestID: requestID)
    }

    /// Returns the error of one short GUID of an answer.
    package func item(shortGUID: Text, requestID: Text? = nil) -> ErrorAnswer {
        ErrorAnswer(self, .shortGUID(shortGUID), requestID: requestID)
    }

    /// Returns the body of the answer to a request that failed as a whole. Throttled requests name
    /// the code a second time, like Apple's (TN3162).
    package func body(requestID: Text) -> [UInt8] {
        AnswerWriter.object { answer in
            answer.member("uuid", requestID)
            answer.member("serverErrorCode", code.rawValue)
            answer.member("reason", reason)
            answer.member("retryAfter", retryAfter)
            answer.member("redirectURL", redirectURL)
            guard code == .throttled || code == .tryAgainLater else { return }
            answer.member("error_code", code.rawValue)
            answer.member("messageForDeveloper", reason)
        }
    }
}
