package import RecordModel
package import RecordWire

extension ServerSetting {
    /// The setting for the name of a container for people.
    package static func title(of container: Text) -> String { "title \(container)" }
}

extension StorageReader {
    /// Returns the title of a container. Returns nil for a container without one.
    package func title(of container: Text) throws(ServerError) -> Text? {
        guard let bytes = try setting(ServerSetting.title(of: container)), !bytes.isEmpty else {
            return nil
        }
        return Text(utf8: bytes)
    }
}

extension Accounts {
    /// Gives a container the name that people see when they sign in. An empty title removes it.
    /// Errors: `notFound`, `badRequest` for anything except a short line.
    package func setTitle(_ title: Text, of container: Text) async throws(ServerError) {
        try Self.checkTitle(title)
        try await storage.write { (transaction) throws(ServerError) in
            guard try transaction.containers().contains(container) else {
                throw ServerError(.notFound, "There is no such container on this server.")
            }
            try transaction.putSetting(ServerSetting.title(of: container), title.utf8)
        }
    }

    static func checkTitle(_ title: Text) throws(ServerError) {
        guard title.utf8.isEmpty || PageTitle.isWellFormed(title.string) else {
            throw ServerError(.badRequest, "A title is one line of at most 100 characters.")
        }
    }

    /// Returns the containers in the order of their names.
    package func titledContainers() async throws(ServerError) -> [(name: Text, title: Text?)] {
        try await storage.read { (reader) throws(ServerError) in
            var all: [(name: Text, title: Text?)] = []
            for name in try reader.containers() {
                all.append((name, try reader.title(of: name)))
            }
            return all
        }
    }
}
