import RecordModel
import RecordSync
import Testing

@Suite("Dates of HTTP") struct HTTPTimeTests {
    @Test(
        "a date is the time that it names",
        arguments: [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Tue, 29 Feb 2000 23:59:59 GMT", 951_868_799),
            ("Thu, 26 Nov 2026 15:49:29 GMT", 1_795_708_169),
            ("Fri, 31 Dec 9999 23:59:60 GMT", 253_402_300_800),
        ] as [(String, Int64)])
    func times(_ text: String, _ seconds: Int64) {
        #expect(HTTPTime.parse(text) == Timestamp(seconds: seconds))
    }

    @Test(
        "any other text is none",
        arguments: [
            "", "now", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 06 Nov 1994 08:49 GMT", "Sun, 99 Nov 1994 08:49:37 GMT",
            "Sun, 06 Now 1994 08:49:37 GMT", "Sun, 06 Nov 99999999999999999999 08:49:37 GMT",
            "Sun, 06 Nov 1994 -1:49:37 GMT",
        ])
    func none(_ text: String) { #expect(HTTPTime.parse(text) == nil) }
}
