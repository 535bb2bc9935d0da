package import RecordWire

extension ContainerKey {
    /// Returns each container of the server, in each environment.
    package static func all(_ reader: any StorageReader) throws(ServerError) -> [ContainerKey] {
        try reader.containers().flatMap { container in
            ServerEnvironment.allCases.map { ContainerKey(container: container, environment: $0) }
        }
    }
}
