import RecordModel
import RecordWire

extension RecordService {
    func exportSchema(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> [UInt8]
    {
        throw ServerError(.internalError, "")
    }
    func validateSchema(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> [UInt8]
    {
        throw ServerError(.internalError, "")
    }
    func importSchema(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> [UInt8]
    {
        throw ServerError(.internalError, "")
    }
    func deploySchema(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> [UInt8]
    {
        throw ServerError(.internalError, "")
    }
    func resetSchema(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> [UInt8]
    {
        throw ServerError(.internalError, "")
    }
}
