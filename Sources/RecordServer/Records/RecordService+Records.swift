import RecordModel
import RecordWire

extension RecordService {
    func lookupRecords(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> [UInt8]
    {
        throw ServerError(.internalError, "")
    }
    func modifyRecords(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> [UInt8]
    {
        throw ServerError(.internalError, "")
    }
}
