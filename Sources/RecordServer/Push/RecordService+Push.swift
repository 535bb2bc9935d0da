import RecordModel
import RecordWire

extension RecordService {
    func listSubscriptions(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> [UInt8]
    {
        throw ServerError(.internalError, "")
    }
    func lookupSubscriptions(_ body: JSONValue, _ context: OperationContext)
        async throws(ServerError) -> [UInt8]
    {
        throw ServerError(.internalError, "")
    }
    func modifySubscriptions(_ body: JSONValue, _ context: OperationContext)
        async throws(ServerError) -> [UInt8]
    {
        throw ServerError(.internalError, "")
    }
    func createPushToken(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> [UInt8]
    {
        throw ServerError(.internalError, "")
    }
    func registerPushToken(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> [UInt8]
    {
        throw ServerError(.internalError, "")
    }
}
