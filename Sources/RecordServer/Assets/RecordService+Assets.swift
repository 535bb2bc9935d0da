import RecordModel
import RecordWire

extension RecordService {
    func uploadTokens(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> [UInt8]
    {
        throw ServerError(.internalError, "")
    }
    func rereferenceAssets(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> [UInt8]
    {
        throw ServerError(.internalError, "")
    }
}
