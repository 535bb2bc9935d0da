package import RecordModel
package import RecordWire

/// A representative record of a record type: every field has a value, so that a server's schema of
/// development learns all of them.
package struct SchemaSample: Sendable {
    /// The beginning of the names of all representative records. A number follows, the same for
    /// every schema, so that a run finds what an interrupted one has left.
    package static let namePrefix = "recordfs-schema-sample-"
    /// The value of `markField` in all representative records.
    static let mark = Array("recordfs schema sample".utf8)
    /// A field that Core Data gives to every type.
    static let markField = FieldName("CD_moveReceipt")
    /// The content of all assets.
    static let assetBytes = Array("recordfs schema sample\n".utf8)
    /// The reference date of Core Data, 2001-01-01.
    private static let milliseconds: Int64 = 978_307_200_000

    package let name: RecordName
    let type: RecordTypeName
    let fields: [RecordSchema.Field]
    private let texts: [FieldName: Text]

    private init(
        _ number: Int, _ type: SchemaDocument.RecordType, _ text: (FieldName) -> String?
    ) {
        name = Self.name(number)
        self.type = type.name
        fields = type.fields.filter { !$0.isSystem }.map(\.field)
        texts = Dictionary(
            fields.compactMap { field in text(field.name).map { (field.name, Text($0)) } },
            uniquingKeysWith: { first, _ in first })
    }

    static func name(_ number: Int) -> RecordName { RecordName("\(namePrefix)\(number)") }

    /// Returns a record for each type.
    ///
    /// - Parameter text: the text of a field where not any text will do.
    package static func samples(
        of schema: SchemaDocument, text: (RecordTypeName, FieldName) -> String?
    ) -> [SchemaSample] {
        schema.types.enumerated().map { number, type in
            SchemaSample(number + 1, type) { text(type.name, $0) }
        }
    }

    var assetFields: [FieldName] { fields.filter { $0.type == .asset }.map(\.name) }

    /// Returns the record to send.
    ///
    /// - Parameter asset: the uploaded asset of a field.
    package func record(asset: (FieldName) -> WireAsset?) -> RecordDictionary {
        var record = RecordDictionary(name: name, type: type)
        record.fields = fields.compactMap { field in
            guard let value = value(of: field, asset) else { return nil }
            return WireField(
                name: field.name, value: value, type: field.type, isEncrypted: field.isEncrypted)
        }
        return record
    }

    /// Returns the record as it is sent, without the receipts of its assets.
    package func json() throws(RecordError) -> JSONValue {
        var asset = WireAsset(SHA256.hash(Self.assetBytes), size: Int64(Self.assetBytes.count))
        asset.sha256 = nil
        return try JSONParser.parse(record { _ in asset }.bytes)
    }

    /// Returns the value of a field. Nil for a type that Core Data never makes.
    private func value(
        of field: RecordSchema.Field, _ asset: (FieldName) -> WireAsset?
    ) -> WireValue? {
        switch field.type {
        case .string: .string(texts[field.name] ?? "sample")
        case .int64: .int64(1)
        // A field of whole numbers does not take it for one of them.
        case .double: .double(0.5)
        case .timestamp: .timestamp(milliseconds: Self.milliseconds)
        case .bytes: .bytes(Self.mark)
        case .asset: asset(field.name).map { .asset($0) }
        case .location, .reference, .json, .list: nil
        }
    }
}
