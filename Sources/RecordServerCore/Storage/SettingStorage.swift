package import RecordModel
package import RecordWire

/// A schema with its version, which grows with each change.
package struct SchemaRow: Hashable, Sendable {
    package let version: Int64
    /// The schema as .ckdb text.
    package let text: [UInt8]
    package init(version: Int64, text: [UInt8]) {
        self.version = version
        self.text = text
    }
}

/// The settings of the server as a whole.
package enum ServerSetting {
    /// The secret of `Seal`: 32 secret bytes.
    package static let sealKey = "seal-key"
    /// Random bytes, replaced whenever the server is restored from a backup.
    package static let incarnation = "incarnation"
    /// The position at which new zones begin, as 8 bytes. A restored server continues far behind
    /// all positions that the lost time can have given, also in zones that it does not know.
    package static let firstPosition = "first-position"
}

package protocol SettingReader {
    /// Returns a setting by its name in `ServerSetting`.
    func setting(_ name: String) throws(ServerError) -> [UInt8]?

    /// Returns the position at which a new zone begins: behind all positions that were given before
    /// the server was last restored from a backup.
    func firstPosition() throws(ServerError) -> Int64
    func containers() throws(ServerError) -> [Text]
    /// Returns the schema. Returns nil when nothing was ever stored: an empty schema of version 0.
    func schema(_ container: ContainerKey) throws(ServerError) -> SchemaRow?
    /// Returns the roles given to a user in this container, except the built-in ones.
    func roles(_ container: ContainerKey, of user: UserName) throws(ServerError) -> [String]
}

package protocol SettingWriter {
    func putSetting(_ name: String, _ value: [UInt8]) throws(ServerError)
    func createContainer(_ name: Text) throws(ServerError)
    func putSchema(_ container: ContainerKey, _ schema: SchemaRow) throws(ServerError)
    func putRoles(_ container: ContainerKey, of user: UserName, _ roles: [String])
        throws(ServerError)
    /// Deletes every zone, share, subscription and operation result of the container in this
    /// environment, for a reset of the development environment.
    func erase(_ container: ContainerKey, reason: DeletionReason) throws(ServerError)
}
