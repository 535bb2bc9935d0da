import RecordModel

/// How much room the zones of one owner have, as changes/database tells who asks (`wantsQuota`, an
/// extension).
package struct QuotaAnswer: Hashable, Sendable {
    package let owner: UserName
    /// All that the owner may have, in bytes; told to the owner only.
    package let totalBytes: Int64?
    /// What is left of it, in bytes. Never less than nothing: also of an owner who has more than that by
    /// now.
    package let freeBytes: Int64

    package init(owner: UserName, totalBytes: Int64?, freeBytes: Int64) {
        self.owner = owner
        self.totalBytes = totalBytes
        self.freeBytes = max(freeBytes, 0)
    }
}

extension QuotaAnswer: AnswerValue {
    package func write(to answer: inout AnswerWriter) {
        answer.object { answer in
            answer.member("ownerRecordName", owner)
            answer.member("totalBytes", totalBytes)
            answer.member("freeBytes", freeBytes)
        }
    }

    package init(_ json: JSONReader) throws(ServerError) {
        self.init(
            owner: try UserName(try json.required("ownerRecordName")),
            totalBytes: try json["totalBytes"]?.int64(),
            freeBytes: try json.required("freeBytes").int64())
    }
}
