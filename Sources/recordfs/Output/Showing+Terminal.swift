import RecordControl
import RecordModel

extension Showing {
    static func json(_ value: JSONValue) {
        Terminal.print(value.serialized(pretty: true) + [0x0A])
    }

    static func jsonLine(_ value: JSONValue) {
        Terminal.print(value.serialized() + [0x0A])
    }
}
