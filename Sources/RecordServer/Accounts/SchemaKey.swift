import RecordModel
package import RecordWire

extension ServerSetting {
    /// Whether a server-to-server key may manage the schema: there, or not.
    static func managesSchema(keyID: Text) -> String { "schema-key \(keyID)" }
}

extension StorageReader {
    /// Keys are for records; only those that were made for it manage the schema besides.
    package func managesSchema(_ key: ServerKeyRow) throws(ServerError) -> Bool {
        try setting(ServerSetting.managesSchema(keyID: key.keyID)) != nil
    }
}
