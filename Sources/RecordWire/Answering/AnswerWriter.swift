package import RecordModel

/// A type whose values can be printed into an answer.
package protocol AnswerValue {
    func write(to answer: inout AnswerWriter)
}

/// Prints an answer as compact JSON, directly into bytes: there is no tree in between. Text that is
/// already JSON is copied unchanged, or taken over without a copy when it is long.
///
/// The writer sets the commas. Keys are those of the protocol, which need no escapes.
package struct AnswerWriter {
    /// The approximate size of one part. A long answer consists of many arrays: a single growing
    /// one would be copied again and again, and would be in memory twice meanwhile.
    private static let partBytes = 64 << 10

    private var parts: [[UInt8]] = []
    private var partsCount = 0
    private var writer = JSONWriter(layout: .compact)
    private var needsComma = false

    /// Creates a writer.
    ///
    /// - Parameter capacity: in bytes. The writer grows beyond it.
    package init(capacity: Int = 1_024) {
        writer.reserveCapacity(min(capacity, Self.partBytes + (4 << 10)))
    }

    /// The number of bytes printed so far.
    package var count: Int { partsCount + writer.bytes.count }
    /// The whole output in one array.
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

    /// Prints `{ ... }`, with the members that `members` writes.
    package mutating func object<Failure: Error>(
        _ members: (inout AnswerWriter) throws(Failure) -> Void
    ) throws(Failure) {
        open(UInt8(ascii: "{"))
        try members(&self)
        close(UInt8(ascii: "}"))
    }

    /// Prints `[ ... ]`, with the values that `elements` writes.
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

    /// Prints the key of the next value: printable ASCII without quotes and backslashes.
    package mutating func key(_ key: String) {
        separate()
        writer.splice(UInt8(ascii: "\""))
        writer.splice(key)
        writer.splice(Self.keyEnd)
        needsComma = false
    }

    /// Prints a key that is data, such as the name of a field.
    package mutating func key(escaping key: [UInt8]) {
        separate()
        writer.string(key)
        writer.splice(UInt8(ascii: ":"))
        needsComma = false
    }

    private static let keyEnd = Array("\":".utf8)

    package mutating func value(_ value: some AnswerValue) { value.write(to: &self) }

    /// Prints a member. A nil value is left out.
    package mutating func member<Value: AnswerValue>(_ key: String, _ value: Value?) {
        guard let value else { return }
        self.key(key)
        value.write(to: &self)
    }

    package mutating func member(_ key: String, _ elements: some Sequence<some AnswerValue>) {
        self.key(key)
        array(elements)
    }

    /// Prints a member whose value is an object.
    package mutating func member<Failure: Error>(
        _ key: String, object members: (inout AnswerWriter) throws(Failure) -> Void
    ) throws(Failure) {
        self.key(key)
        try object(members)
    }

    /// Prints a member whose value is an array.
    package mutating func member<Failure: Error>(
        _ key: String, array elements: (inout AnswerWriter) throws(Failure) -> Void
    ) throws(Failure) {
        self.key(key)
        try array(elements)
    }

    /// Prints a JSON string of UTF-8 bytes.
    package mutating func string(_ utf8: [UInt8]) {
        separate()
        writer.string(utf8)
    }

    /// Prints one value that is JSON already, without a check of its content.
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
    /// A place to which the writer can return.
    package struct Mark {
        fileprivate let parts: Int
        fileprivate let bytes: Int
        fileprivate let needsComma: Bool
    }

    package var mark: Mark {
        Mark(parts: parts.count, bytes: writer.bytes.count, needsComma: needsComma)
    }

    /// Removes the output since the mark.
    package mutating func goBack(to mark: Mark) {
        if parts.count > mark.parts {
            // The part that was being printed at the mark is now the first of those.
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

    /// Returns an answer that consists of one object, as most answers do.
    package static func answer<Failure: Error>(
        capacity: Int = 1_024, _ members: (inout AnswerWriter) throws(Failure) -> Void
    ) throws(Failure) -> Answer {
        var answer = AnswerWriter(capacity: capacity)
        try answer.object(members)
        return answer.answer
    }

    /// Returns the bytes of one object.
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
    /// Prints null for a number that JSON does not have.
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
