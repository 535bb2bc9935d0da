import RecordModel
import TestSupport

/// Random fields, and random texts that hold them.
struct FieldGenerator {
    private var json: JSONGenerator

    init(seed: UInt64) { json = JSONGenerator(seed: seed &* 7919 &+ 1) }

    mutating func string() -> Text { json.string() }

    private mutating func name() -> RecordName {
        RecordName(bytes: [UInt8(ascii: "r")] + json.string().utf8)
    }

    private mutating func double() -> Double {
        let value = Double(bitPattern: json.random.next())
        return value.isFinite ? value : 0.5
    }

    mutating func scalar(_ kind: Int) -> FieldValue {
        switch kind {
        case 0: return .string(json.string())
        case 1: return .int64(Int64(bitPattern: json.random.next()))
        case 2: return .double(double())
        case 3: return .timestamp(milliseconds: Int64(bitPattern: json.random.next()) >> 16)
        case 4: return .bytes((0..<json.int(0...9)).map { UInt8($0 * 29) })
        case 5:
            guard
                var location = Location(
                    latitude: Double(json.int(-90...90)), longitude: Double(json.int(-180...180)))
            else { return .int64(0) }
            if json.int(0...1) == 0 { location.speed = double() }
            if json.int(0...1) == 0 { location.timestampMilliseconds = Int64(json.int(0...9999)) }
            return .location(location)
        case 6:
            let zones = [nil, ZoneName("Küche"), ZoneName("z")]
            return .reference(
                Reference(
                    name: name(), zone: zones[json.int(0...2)],
                    action: Reference.Action.allCases[json.int(0...2)]))
        default:
            return .asset(
                AssetValue(
                    fileName: Text("stem@field.\(json.int(0...99)).png"),
                    size: json.int(0...1) == 0 ? nil : Int64(json.int(0...1000)),
                    sha256: json.int(0...1) == 0 ? nil : SHA256.hash(json.string().utf8)))
        }
    }

    mutating func value() -> FieldValue {
        switch json.int(0...9) {
        case 0...6: return scalar(json.int(0...7))
        case 7, 8:
            let kind = json.int(0...7)
            return .list((0..<json.int(0...4)).map { _ in scalar(kind) })
        default:
            return .json(["key": JSONValue.string(json.string()), "list": [1, nil, ["x": 2]]])
        }
    }

    mutating func fields() -> [RecordField] {
        (0..<json.int(0...7)).map { RecordField(name: FieldName("f\($0)"), value: value()) }
    }

    mutating func changes(to fields: [RecordField]) -> [(FieldName, FieldValue?)] {
        var changes: [(FieldName, FieldValue?)] = []
        for field in fields where json.int(0...2) == 0 {
            changes.append((field.name, json.int(0...2) == 0 ? nil : value()))
        }
        for index in 0..<json.int(0...2) {
            changes.append((FieldName("new\(index)"), value()))
        }
        return changes
    }

    /// A text in random white space, and the spelling of each member in it.
    mutating func layout(_ fields: [RecordField]) -> (text: [UInt8], members: [[UInt8]]) {
        var text: [UInt8] = json.int(0...3) == 0 ? [0xEF, 0xBB, 0xBF] : []
        text += space() + bytes("{") + space()
        var members: [[UInt8]] = []
        let layouts: [JSONWriter.Layout] = [.compact, .spaced, .pretty]
        for (index, field) in fields.enumerated() {
            if index > 0 { text += space() + bytes(",") + space() }
            var writer = JSONWriter(layout: layouts[json.int(0...2)])
            writer.write(field.value.json())
            let member = bytes("\"\(field.name)\"") + space() + bytes(":") + space() + writer.bytes
            members.append(member)
            text += member
        }
        return (text + space() + bytes("}") + space(), members)
    }

    private mutating func space() -> [UInt8] {
        let spaces = ["", "", " ", "\n  ", "\r\n\t", "  \n\n"]
        return bytes(spaces[json.int(0...(spaces.count - 1))])
    }
}
