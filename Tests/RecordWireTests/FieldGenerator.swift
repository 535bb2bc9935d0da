import RecordModel
import RecordWire
import TestSupport

/// Random fields from a seed.
struct FieldGenerator {
    private var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed &* 7919 &+ 1) }

    private mutating func int(_ range: ClosedRange<Int>) -> Int {
        Int.random(in: range, using: &random)
    }

    private mutating func text() -> Text {
        let alphabet = Array("abcZ09 \"\\/\u{1}\n\t{}[]:,é漢😀\u{2028}".unicodeScalars)
        var string = String.UnicodeScalarView()
        for _ in 0..<int(0...12) { string.append(alphabet[int(0...(alphabet.count - 1))]) }
        return Text(String(string))
    }

    private mutating func name() -> RecordName {
        RecordName(bytes: (0..<int(1...255)).map { _ in UInt8(int(0x20...0x7E)) })
    }

    private mutating func double() -> Double {
        let value = Double(bitPattern: random.next())
        return value.isFinite ? value : 0.5
    }

    private mutating func location() -> Location? {
        var location = Location(
            latitude: Double(int(-900...900)) / 10, longitude: Double(int(-1800...1800)) / 10)
        if int(0...1) == 0 { location?.altitude = double() }
        if int(0...1) == 0 { location?.horizontalAccuracy = double() }
        if int(0...1) == 0 { location?.verticalAccuracy = double() }
        if int(0...1) == 0 { location?.course = double() }
        if int(0...1) == 0 { location?.speed = double() }
        if int(0...1) == 0 { location?.timestampMilliseconds = Int64(int(-9_999...9_999)) }
        return location
    }

    private mutating func reference() -> WireReference {
        var reference = WireReference(name: name())
        reference.action = Reference.Action.allCases[int(0...2)]
        guard int(0...1) == 0 else { return reference }
        reference.zone = ZoneIdentifier(zone: ZoneName("Z\(int(0...9))"))
        if int(0...1) == 0 { reference.zone?.owner = UserName("_\(int(0...9))") }
        return reference
    }

    private mutating func scalar(_ type: FieldType) -> WireValue {
        switch type {
        case .string, .json, .list: return .string(text())
        case .int64: return .int64(Int64(bitPattern: random.next()))
        case .double: return .double(double())
        case .timestamp:
            return .timestamp(
                milliseconds: Int64.random(
                    in: -62_135_769_600_000...253_402_300_799_999, using: &random))
        case .bytes: return .bytes((0..<int(0...9)).map { _ in UInt8(int(0...255)) })
        case .location: return location().map { .location($0) } ?? .int64(0)
        case .reference: return .reference(reference())
        case .asset:
            let checksum = [1] + (0..<20).map { _ in UInt8(int(0...255)) }
            return .asset(
                WireAsset(
                    fileChecksum: Text(utf8: Base64.encode(checksum)),
                    size: Int64(int(0...Int.max))))
        }
    }

    mutating func fields() -> [WireField] {
        let types = FieldType.scalars.filter { $0 != .json }
        return (0..<int(0...12)).map { index in
            let type = types[int(0...(types.count - 1))]
            let isList = int(0...3) == 0
            let value: WireValue =
                isList ? .list((0..<int(0...4)).map { _ in scalar(type) }) : scalar(type)
            return WireField(
                name: FieldName("f\(index)"), value: value, type: isList ? .list(type) : type,
                isEncrypted: int(0...5) == 0, stamp: int(0...3) == 0 ? Text("s\(index)") : nil)
        }
    }
}
