import RecordModel
import RecordWire

extension RecordService {
    func currentUser(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> [UInt8]
    {
        throw ServerError(.internalError, "")
    }
    func discoverUsers(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> [UInt8]
    {
        throw ServerError(.internalError, "")
    }
    func lookupUsers(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> [UInt8]
    {
        throw ServerError(.internalError, "")
    }
}
