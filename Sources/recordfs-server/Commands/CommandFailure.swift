import RecordWire

/// A message for the person at the terminal; exit code 1.
struct CommandFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
    init(_ error: ServerError) { description = error.reason }
}
