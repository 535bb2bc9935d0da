import RecordModel
package import RecordWire

/// The secret with which the server seals the values that clients keep.
package enum SealKey {
    /// Reads the secret, and makes it the first time. All processes of a server have the same one.
    package static func read(_ storage: any Storage) async throws(ServerError) -> Seal {
        let (freshKey, freshIncarnation) = (SecureRandom.bytes(32), SecureRandom.bytes(16))
        return try await storage.write { (transaction) throws(ServerError) in
            Seal(
                key: try setting(ServerSetting.sealKey, freshKey, transaction),
                incarnation: try setting(
                    ServerSetting.incarnation, freshIncarnation, transaction))
        }
    }

    private static func setting(
        _ name: String, _ fresh: [UInt8], _ transaction: any StorageTransaction
    ) throws(ServerError) -> [UInt8] {
        if let value = try transaction.setting(name) { return value }
        try transaction.putSetting(name, fresh)
        return fresh
    }
}
