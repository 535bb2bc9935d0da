package import RecordModel

/// One token of the answer to assets/upload: the address to which the bytes are sent.
package enum UploadToken: Hashable, Sendable {
    case url(RecordName, FieldName, Text)
    case failed(RecordName?, FieldName?, WireError)

    package init(_ json: JSONReader) throws(ServerError) {
        let record = try json["recordName"].map(RecordName.init(_:))
        let field = try json["fieldName"].map(FieldName.init(_:))
        if let error = try WireError(json) {
            self = .failed(record, field, error)
        } else {
            self = .url(
                try RecordName(try json.required("recordName")),
                try FieldName(try json.required("fieldName")),
                try json.required("url").string())
        }
    }

    package static func list(_ json: JSONReader) throws(ServerError) -> [UploadToken] {
        try json.required("tokens").array().map(UploadToken.init(_:))
    }
}

/// One item of the answer to assets/rereference.
package enum RereferencedAsset: Hashable, Sendable {
    /// An asset. Apple's reference does not say whether the answer names its record and field.
    case asset(RecordName?, FieldName?, WireAsset)
    case failed(WireError)

    package init(_ json: JSONReader) throws(ServerError) {
        if let error = try WireError(json) {
            self = .failed(error)
        } else {
            self = .asset(
                try json["recordName"].map(RecordName.init(_:)),
                try json["fieldName"].map(FieldName.init(_:)), try WireAsset(json))
        }
    }

    package static func list(_ json: JSONReader) throws(ServerError) -> [RereferencedAsset] {
        try json.required("assets").array().map(RereferencedAsset.init(_:))
    }
}

extension WireAsset {
    /// Creates the asset as the server will name bytes that are on this machine.
    package init(_ hash: ContentHash, size: Int64) {
        self.init(fileChecksum: AssetChecksum.fileChecksum(hash), size: size)
        sha256 = hash
    }

    /// Reads the answer to an upload: the asset for the record.
    package init(uploaded json: JSONReader) throws(ServerError) {
        try self.init(try json.required("singleFile"))
    }
}
