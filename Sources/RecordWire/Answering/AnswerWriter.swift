package import RecordModel

/// What can stand as a value in an answer.
package protocol AnswerValue {
    func write(to answer: inout AnswerWriter)
}

/// Prints an answer as compact JSON, straight into bytes: no tree in between, and text that is
/// already JSON is copied as it is, or taken over without a copy when it is long.
///
/// Commas are the writer's business. Keys are those of the protocol, which need no escapes.
package struct AnswerWriter {
    /// A long answer is many arrays of about this size: one that grows would be copied again and
    /// again, and be there twice meanwhile.
    private static let partBytes = 64 << 10

    private var parts: [[UInt8]] = []
    private var partsCount = 0
    private var writer = JSONWriter(layout: .compact)
    private var needsComma = false

    /// `capacity` in bytes; the writer grows beyond it.
    package init(capacity: Int = 1_024) {
        writer.reserveCapacity(min(capacity, Self.partBytes + (4 << 10)))
    }

    /// Of what was printed, in bytes.
    package var count: Int { partsCount + writer.bytes.count }
    /// All of it in one array.
    package var bytes: [UInt8] { parts.isEmpty ? writer.bytes : answer.bytes }
    package var json: JSONBytes { JSONBytes(bytes) }

    package var answer: Answer { Answer(parts: parts + [writer.bytes]) }

    private mutating func separate() {
        if writer.bytes.count >= Self.partBytes { endPart() }
        if needsComma { writer.splice(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func endPart() {
        guard !writer.bytes.isEmpty else { return }
        let part = writer.take()
        partsCount += part.count
        parts.append(part)
        writer.reserveCapacity(Self.partBytes + (4 << 10))
    }

    private mutating func open(_ bracket: UInt8) {
        separate()
        writer.splice(bracket)
        needsComma = false
    }

    private mutating func close(_ bracket: UInt8) {
        writer.splice(bracket)
        needsComma = true
    }

    /// `{ ... }`, with the members that `members` writes.
    package mutating func object<Failure: Error>(
        _ members: (inout AnswerWriter) throws(Failure) -> Void
    ) throws(Failure) {
        open(UInt8(ascii: "{"))
        try members(&self)
        close(UInt8(ascii: "}"))
    }

    /// `[ ... ]`, with the values that `elements` writes.
    package mutating func array<Failure: Error>(
        _ elements: (inout AnswerWriter) throws(Failure) -> Void
    ) throws(Failure) {
        open(UInt8(ascii: "["))
        try elements(&self)
        close(UInt8(ascii: "]"))
    }

    package mutating func array(_ elements: some Sequence<some AnswerValue>) {
        array { answer in
            for element in elements { answer.value(element) }
        }
    }

    /// The key of the next value: printable ASCII without quotes and backslashes.
    package mutating func key(_ key: String) {
        separate()
        writer.splice(UInt8(ascii: "\""))
        writer.splice(key)
        writer.splice(Self.keyEnd)
        needsComma = false
    }

    /// A key that is data, such as the name of a field.
    package mutating func key(escaping key: [UInt8]) {
        separate()
        writer.string(key)
        writer.splice(UInt8(ascii: ":"))
        needsComma = false
    }

    private static let keyEnd = Array("\":".utf8)

    package mutating func value(_ value: some AnswerValue) { value.write(to: &self) }

    /// A member, left out when it is nil.
    package mutating func member<Value: AnswerValue>(_ key: String, _ value: Value?) {
        guard let value else { return }
        self.key(key)
        value.write(to: &self)
    }

    package mutating func member(_ key: String, _ elements: some Sequence<some AnswerValue>) {
        self.key(key)
        array(elements)
    }

    /// A member whose value is an object.
    package mutating func member<Failure: Error>(
        _ key: String, object members: (inout AnswerWriter) throws(Failure) -> Void
    ) throws(Failure) {
        self.key(key)
        try object(members)
    }

    /// A member whose value is an array.
    package mutating func member<Failure: Error>(
        _ key: String, array elements: (inout AnswerWriter) throws(Failure) -> Void
    ) throws(Failure) {
        self.key(key)
        try array(elements)
    }

    /// A JSON string of UTF-8 bytes.
    package mutating func string(_ utf8: [UInt8]) {
        separate()
        writer.string(utf8)
    }

    /// One value that is JSON already, copied without a look inside.
    package mutating func splice(_ json: [UInt8]) {
        separate()
        guard json.count >= Self.partBytes else { return writer.splice(json) }
        endPart()
        partsCount += json.count
        parts.append(json)
    }

    package mutating func splice(_ json: String) {
        separate()
        writer.splice(json)
    }

    package mutating func tree(_ value: JSONValue) {
        separate()
        writer.write(value)
    }
}

extension AnswerWriter {
    /// A place to go back to.
    package struct Mark {
        fileprivate let parts: Int
        fileprivate let bytes: Int
        fileprivate let needsComma: Bool
    }

    package var mark: Mark {
        Mark(parts: parts.count, bytes: writer.bytes.count, needsComma: needsComma)
    }

    /// Forgets what was printed since.
    package mutating func goBack(to mark: Mark) {
        if parts.count > mark.parts {
            // The part that was being printed then came to be the first of those.
            let part = parts[mark.parts].prefix(mark.bytes)
            partsCount -= parts[mark.parts...].reduce(0) { $0 + $1.count }
            parts.removeSubrange(mark.parts...)
            _ = writer.take()
            writer.splice(Array(part))
        } else {
            writer.cut(to: mark.bytes)
        }
        needsComma = mark.needsComma
    }

    /// One object, which is what most answers are.
    package static func answer<Failure: Error>(
        capacity: Int = 1_024, _ members: (inout AnswerWriter) throws(Failure) -> Void
    ) throws(Failure) -> Answer {
        var answer = AnswerWriter(capacity: capacity)
        try answer.object(members)
        return answer.answer
    }

    /// The bytes of one object.
    package static func object<Failure: Error>(
        capacity: Int = 1_024, _ members: (inout AnswerWriter) throws(Failure) -> Void
    ) throws(Failure) -> [UInt8] {
        var answer = AnswerWriter(capacity: capacity)
        try answer.object(members)
        return answer.bytes
    }
}

extension Text: AnswerValue {
    package func write(to answer: inout AnswerWriter) { answer.string(utf8) }
}

extension String: AnswerValue {
    package func write(to answer: inout AnswerWriter) { answer.string(Array(utf8)) }
}

extension Bool: AnswerValue {
    package func write(to answer: inout AnswerWriter) {
        answer.splice(self ? "true" : "false")
    }
}

extension Int64: AnswerValue {
    package func write(to answer: inout AnswerWriter) { answer.splice(String(self)) }
}

extension Int: AnswerValue {
    package func write(to answer: inout AnswerWriter) { answer.splice(String(self)) }
}

extension Double: AnswerValue {
    /// Null for what JSON does not have.
    package func write(to answer: inout AnswerWriter) {
        answer.splice(isFinite ? description : "null")
    }
}

extension JSONBytes: AnswerValue {
    package func write(to answer: inout AnswerWriter) { answer.splice(bytes) }
}

extension JSONValue: AnswerValue {
    package func write(to answer: inout AnswerWriter) { answer.tree(self) }
}

extension RecordName: AnswerValue {}
extension RecordTypeName: AnswerValue {}
extension FieldName: AnswerValue {}
extension ZoneName: AnswerValue {}
extension UserName: AnswerValue {}

extension ByteName {
    package func write(to answer: inout AnswerWriter) { answer.string(bytes) }
}
