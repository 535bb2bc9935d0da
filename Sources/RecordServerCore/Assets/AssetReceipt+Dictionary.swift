package import RecordModel
import RecordWire

extension AssetReceipt {
    /// Returns the five keys of a value that can be written (Protocol, "Assets").
    ///
    /// `wrappingKey` and `referenceChecksum` carry no meaning here. They follow from the receipt,
    /// so that the server notices a client that sends back others.
    func dictionary(sealedBy seal: Seal) -> WireAsset {
        let receipt = sealed(by: seal)
        var asset = WireAsset(fileChecksum: fileChecksum, size: size)
        asset.receipt = receipt
        asset.wrappingKey = Self.wrappingKey(of: receipt)
        asset.referenceChecksum = Self.referenceChecksum(of: receipt)
        return asset
    }

    static func wrappingKey(of receipt: Text) -> Text {
        Text(utf8: Base64.encode(Array(digest("wrappingKey", receipt).prefix(16))))
    }

    static func referenceChecksum(of receipt: Text) -> Text {
        Text(utf8: Base64.encode([0x01] + digest("referenceChecksum", receipt).prefix(20)))
    }

    private static func digest(_ purpose: String, _ receipt: Text) -> [UInt8] {
        var hash = SHA256()
        hash.update(Array(purpose.utf8) + [0] + receipt.utf8)
        return hash.finalize()
    }
}

extension WireAsset {
    /// The members of the dictionary that have a value, for answers.
    package var members: [JSONMember] {
        var members = [
            JSONMember(key: "fileChecksum", value: .string(fileChecksum)),
            JSONMember(key: "size", value: JSONValue(size)),
        ]
        let texts: [(Text, Text?)] = [
            ("receipt", receipt), ("wrappingKey", wrappingKey),
            ("referenceChecksum", referenceChecksum), ("downloadURL", downloadURL),
        ]
        for (key, text) in texts {
            if let text { members.append(JSONMember(key: key, value: .string(text))) }
        }
        return members
    }
}
