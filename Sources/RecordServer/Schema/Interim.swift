import RecordModel
import RecordWire

extension WireField {
    func coerced(to type: FieldType) throws(ServerError) -> WireField {
        var field = self
        field.type = type
        return field
    }
}
