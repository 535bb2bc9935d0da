package import RecordModel

extension ServerError {
    /// Creates the error for a body that is not JSON.
    package init(body error: RecordError) {
        self.init(.badRequest, "The body is not JSON: \(Self.cut(error.description))")
    }

    /// Returns a message that can quote a key of the text, which can be long, with at most 400
    /// bytes.
    static func cut(_ message: String) -> String {
        guard message.utf8.count > 400 else { return message }
        // By bytes, because one `Character` can have any number of them.
        return String(decoding: message.utf8.prefix(300), as: UTF8.self) + " ..."
    }
}
