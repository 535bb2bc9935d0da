package import RecordModel
package import RecordWire

/// A schema with its version, which grows with each change.
package struct SchemaRow: Hashable, Sendable {
    package let version: Int64
    /// The .ckdb text.
    package let text: [UInt8]
    package init(version: Int64, text: [UInt8]) {
        self.version = version
        self.text = text
    }
}

/// The values of the server as a whole.
package enum ServerSetting {
    /// What `Seal` seals with: 32 secret bytes.
    package static let sealKey = "seal-key"
    /// Random bytes, new whenever the server comes back from a backup.
    package static let incarnation = "incarnation"
    /// Where the positions of new zones begin, as 8 bytes. A restored server goes on far behind
    /// what the lost time can have given, in zones that it does not know, too.
    package static let firstPosition = "first-position"
}

package protocol SettingReader {
    /// By its name in `ServerSetting`.
    func setting(_ name: String) throws(ServerError) -> [UInt8]?

    /// Where the positions of a new zone begin: behind all that were given before the server was
    /// last restored from a backup.
    func firstPosition() throws(ServerError) -> Int64
    func containers() throws(ServerError) -> [Text]
    /// Nil when nothing was ever stored: an empty schema of version 0.
    func schema(_ container: ContainerKey) throws(ServerError) -> SchemaRow?
    /// Roles given to a user in this container, but for the built-in ones.
    func roles(_ container: ContainerKey, of user: UserName) throws(ServerError) -> [String]
}

package protocol SettingWriter {
    func putSetting(_ name: String, _ value: [UInt8]) throws(ServerError)
    func createContainer(_ name: Text) throws(ServerError)
    func putSchema(_ container: ContainerKey, _ schema: SchemaRow) throws(ServerError)
    func putRoles(_ container: ContainerKey, of user: UserName, _ roles: [String])
        throws(ServerError)
    /// Deletes every zone, share, subscription and operation result of the container in this
    /// environment, as reset of the development environment does.
    func erase(_ container: ContainerKey, reason: DeletionReason) throws(ServerError)
}
