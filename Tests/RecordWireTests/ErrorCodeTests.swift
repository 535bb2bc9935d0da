import RecordWire
import Testing

@Suite("Error codes") struct ErrorCodeTests {
    @Test("every code has a status of an error")
    func statuses() {
        for code in ServerErrorCode.allCases { #expect((400..<600).contains(code.httpStatus)) }
    }
}
