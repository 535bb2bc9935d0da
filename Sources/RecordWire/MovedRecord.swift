package import RecordModel

/// The place to which a deleted record was moved, in requests and in feeds: an extension. The keys
/// are those of a reference, and the type.
extension RecordAddress: AnswerValue {
    package func write(to answer: inout AnswerWriter) {
        answer.object { answer in
            answer.member("recordName", name)
            answer.member("recordType", type)
            answer.member("zoneID", object: { $0.member("zoneName", zone) })
        }
    }

    package init(_ json: JSONReader) throws(ServerError) {
        _ = try json.object()
        self.init(
            zone: try ZoneName(try json.required("zoneID").required("zoneName")),
            type: try RecordTypeName(try json.required("recordType")),
            name: try RecordName(try json.required("recordName")))
    }
}
