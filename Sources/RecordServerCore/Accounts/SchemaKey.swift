import RecordModel
package import RecordWire

extension ServerSetting {
    /// The setting that lets a server-to-server key manage the schema: it exists, or it does not.
    static func managesSchema(keyID: Text) -> String { "schema-key \(keyID)" }
}

extension StorageReader {
    /// Returns whether the key may manage the schema. Keys are for records; only keys that were
    /// made for it manage the schema as well.
    package func managesSchema(_ key: ServerKeyRow) throws(ServerError) -> Bool {
        try setting(ServerSetting.managesSchema(keyID: key.keyID)) != nil
    }
}
