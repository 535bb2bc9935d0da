import HTTPTypes
import HummingbirdCore
import NIOCore
import RecordModel
import RecordWire

/// An answer to a request that is wrong as HTTP. Its status says more than that of the code.
struct HTTPRefusal: Error {
    let status: HTTPResponse.Status
    let error: ServerError
    var headers = HTTPFields()

    static func badRequest(_ reason: String) -> HTTPRefusal {
        HTTPRefusal(status: .badRequest, error: ServerError(.badRequest, reason))
    }
    static let notFound = HTTPRefusal(
        status: .notFound, error: ServerError(.notFound, "There is nothing at this path."))
    static let encodedBody = HTTPRefusal(
        status: .unsupportedMediaType,
        error: ServerError(.badRequest, "Send the body without Content-Encoding."))

    static func methodNotAllowed(_ allowed: [String]) -> HTTPRefusal {
        var refusal = HTTPRefusal(
            status: .methodNotAllowed,
            error: ServerError(.badRequest, "This path does not have this method."))
        refusal.headers[.allow] = allowed.joined(separator: ", ")
        return refusal
    }
}

extension ServerError {
    func response(requestID: Text, status: HTTPResponse.Status? = nil) -> Response {
        var response = Response(
            status: status ?? HTTPResponse.Status(code: code.httpStatus),
            headers: [.contentType: "application/json; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: body(requestID: requestID))))
        if let retryAfter { response.headers[.retryAfter] = String(retryAfter) }
        return response
    }
}
