import RecordModel
import RecordWire

extension RecordName {
    /// Returns the reason why no server takes a record of this name. Returns nil when a server
    /// takes it.
    ///
    /// - Parameter hasExtensions: whether the server is a recordfs-server, which takes names that
    ///   are not ASCII.
    func sendingProblem(hasExtensions: Bool) -> String? {
        if !isFreeForClients {
            return "a record whose name begins with _ is the server's. Give it another name."
        }
        guard isOfWire else {
            return
                "its name is over 255 bytes, or has control characters or bytes that are no UTF-8, "
                + "which no server takes. Give it another name."
        }
        guard hasExtensions || isDocumented else {
            return "its name is not of ASCII alone, which this server takes. Give it another name."
        }
        return nil
    }
}
