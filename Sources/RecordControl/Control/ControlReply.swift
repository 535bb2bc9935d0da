package import RecordModel

/// The result of a request: a JSON object, and bytes when the request asks for any.
package struct ControlReply: Sendable {
    package let result: JSONValue
    package let body: [UInt8]

    package init(_ result: JSONValue = .object([]), body: [UInt8] = []) {
        self.result = result
        self.body = body
    }

    package var frame: ControlFrame {
        ControlFrame(
            header: .members([
                "version": .integer(ControlRequest.version), "result": result,
            ]), body: body)
    }

    /// Returns the frame that reports a refusal to the other side.
    package static func frame(of error: RecordError) -> ControlFrame {
        ControlFrame(
            header: .members([
                "version": .integer(ControlRequest.version), "error": error.json,
            ]))
    }

    /// Reads a reply.
    ///
    /// Errors: the error with which the other side refused; `unsupported` for another version.
    package init(_ frame: ControlFrame) throws(RecordError) {
        if let error = frame.header["error"] { throw RecordError(json: error) }
        guard frame.header.integerMember("version") == Int64(ControlRequest.version),
            let result = frame.header["result"]
        else {
            throw RecordError(
                .unsupported,
                "the command line and the daemon are of different versions. Unmount and mount.")
        }
        self.init(result, body: frame.body)
    }
}

extension RecordError {
    /// The error as a JSON object. It reads back as an equal error.
    package var json: JSONValue {
        .members([
            "code": .text(code.rawValue),
            "message": .text(message),
            "line": position.map { .integer($0.line) },
            "column": position.map { .integer($0.column) },
            "offset": position.map { .integer($0.offset) },
            "errno": systemErrno == 0 ? nil : .integer(systemErrno),
        ])
    }

    package init(json: JSONValue) {
        var position: TextPosition?
        if let line = json.integerMember("line"), let column = json.integerMember("column") {
            position = TextPosition(
                line: Int(line), column: Int(column),
                offset: Int(json.integerMember("offset") ?? 0))
        }
        self.init(
            json.stringMember("code").flatMap(Code.init) ?? .ioFailure,
            json.stringMember("message") ?? "The daemon refused without a reason.",
            at: position, errno: Int32(truncatingIfNeeded: json.integerMember("errno") ?? 0))
    }
}
