import RecordModel

extension AssetUploadBody: AnswerValue {
    package func write(to answer: inout AnswerWriter) {
        answer.object { answer in
            answer.member("zoneID", zone)
            answer.member("tokens", tokens)
        }
    }
}

extension AssetUploadRequest: AnswerValue {
    package func write(to answer: inout AnswerWriter) {
        answer.object { answer in
            answer.member("recordName", recordName)
            answer.member("recordType", recordType)
            answer.member("fieldName", fieldName)
        }
    }
}

extension RereferenceBody: AnswerValue {
    package func write(to answer: inout AnswerWriter) {
        answer.object { answer in
            answer.member("zoneID", zone)
            answer.member("assets", assets)
        }
    }
}

extension RereferenceBody.Item: AnswerValue {
    package func write(to answer: inout AnswerWriter) {
        answer.object { answer in
            answer.member("recordName", recordName)
            answer.member("fieldName", fieldName)
            answer.member("fileChecksum", fileChecksum)
        }
    }
}

extension PushTokenBody: AnswerValue {
    package func write(to answer: inout AnswerWriter) {
        answer.object { answer in
            answer.member("apnsEnvironment", apnsEnvironment.rawValue)
            answer.member("apnsToken", apnsToken)
            answer.member("clientId", clientID)
        }
    }
}
