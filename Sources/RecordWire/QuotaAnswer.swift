import RecordModel

/// The room that the zones of one owner have. changes/database states it for clients that ask
/// (`wantsQuota`, an extension).
package struct QuotaAnswer: Hashable, Sendable {
    package let owner: UserName
    /// The total room of the owner, in bytes. Only the owner receives it.
    package let totalBytes: Int64?
    /// The remaining room, in bytes. It is never negative, also when the owner already uses more
    /// than the total.
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
