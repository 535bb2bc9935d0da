import RecordModel

/// The stored form of a record's fields: the `fields` object of an answer, as compact JSON.
///
/// Every value has its type, lists as `X_LIST`, so that an answer can copy the bytes unchanged.
/// Only checksums, size and file extension of an asset are stored. Fields without a value are left
/// out.
package enum FieldsCodec {
    package static func encode(_ fields: [WireField]) -> [UInt8] {
        AnswerWriter.object(capacity: 64 * fields.count + 2) { answer in
            for field in fields where field.value != nil {
                answer.key(escaping: field.name.bytes)
                field.write(to: &answer, options: .stored)
            }
        }
    }

    /// Decodes the stored form.
    ///
    /// Errors: `internalError`, because only `encode` makes these bytes.
    package static func decode(_ bytes: [UInt8]) throws(ServerError) -> [WireField] {
        do throws(RecordError) {
            return try fields(try JSONParser.parse(bytes))
        } catch {
            throw ServerError(.internalError, "The stored fields of a record are damaged.")
        }
    }

    /// Returns the approximate memory that `decode` takes: the values of the JSON and the fields
    /// made of them, which share their texts. A small record has few values, so that they are not
    /// counted.
    package static func decodedBytes(_ bytes: [UInt8]) -> Int {
        guard bytes.count > 4 << 10 else { return 10 * bytes.count }
        let values = JSONSize.estimate(bytes) - bytes.count
        return bytes.count + values + values / 2
    }

    private static func fields(_ json: JSONValue) throws(RecordError) -> [WireField] {
        var fields: [WireField] = []
        do throws(ServerError) {
            for member in try JSONReader(json).object() {
                fields.append(
                    try WireField(
                        name: FieldName(bytes: member.key.utf8), JSONReader(member.value)))
            }
        } catch {
            throw RecordError(.corrupt, error.reason)
        }
        return fields
    }
}
