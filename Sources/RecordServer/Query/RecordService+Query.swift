import RecordModel
import RecordWire

extension RecordService {
    func queryRecords(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> [UInt8]
    {
        throw ServerError(.internalError, "")
    }
}
