import RecordModel
import Testing

@testable import RecordServerHTTP

@Suite("Ranges and entity tags") struct ByteRangeTests {
    @Test(
        "a range is the part of the file that RFC 9110 says",
        arguments: [
            ("bytes=0-0", ByteRange.part(from: 0, count: 1)),
            ("bytes=0-9", .part(from: 0, count: 10)),
            ("bytes=3-5", .part(from: 3, count: 3)),
            ("BYTES=3-5", .part(from: 3, count: 3)),
            ("bytes= 3-5", .part(from: 3, count: 3)),
            ("bytes=9-", .part(from: 9, count: 1)),
            ("bytes=3-100", .part(from: 3, count: 7)),
            ("bytes=-4", .part(from: 6, count: 4)),
            ("bytes=-100", .part(from: 0, count: 10)),
            ("bytes=0-99999999999999999999", .part(from: 0, count: 10)),
            ("bytes=10-", .unsatisfiable),
            ("bytes=10-12", .unsatisfiable),
            ("bytes=99999999999999999999-", .unsatisfiable),
            ("bytes=-0", .unsatisfiable),
        ])
    func parts(_ header: String, _ expected: ByteRange) {
        #expect(ByteRange(header, size: 10) == expected)
    }

    @Test(
        "what is no single range of bytes gives the whole file",
        arguments: [
            nil, "", "bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=5-3", "bytes=0-1,3-4",
            "items=0-3", "bytes=--3", "bytes=1-2-3", "bytes=+1-2", "bytes=0x1-2",
        ])
    func everything(_ header: String?) {
        #expect(ByteRange(header, size: 10) == .everything)
    }

    @Test("no part of an empty file can be had", arguments: ["bytes=0-", "bytes=-5", "bytes=0-0"])
    func empty(_ header: String) {
        #expect(ByteRange(header, size: 0) == .unsatisfiable)
    }

    @Test("If-None-Match compares weakly and takes lists and the star")
    func tags() {
        #expect(EntityTag.isListed("\"a\"", in: "\"a\""))
        #expect(EntityTag.isListed("\"a\"", in: "\"b\" , W/\"a\""))
        #expect(EntityTag.isListed("\"a\"", in: "*"))
        #expect(!EntityTag.isListed("\"a\"", in: "\"b\""))
        #expect(!EntityTag.isListed("\"a\"", in: nil))
    }

    @Test("If-Range holds for the strong tag only")
    func ifRange() {
        #expect(EntityTag.holds("\"a\"", ifRange: nil))
        #expect(EntityTag.holds("\"a\"", ifRange: "\"a\""))
        #expect(!EntityTag.holds("\"a\"", ifRange: "W/\"a\""))
        #expect(!EntityTag.holds("\"a\"", ifRange: "Sat, 21 Nov 2026 07:00:00 GMT"))
    }

    @Test(
        "the file name in Content-Disposition is plain, whatever the URL says",
        arguments: [
            (nil, "photo"), ("${f}", "photo"), ("%24%7Bf%7D", "photo"), ("a.jpg", "a.jpg"),
            ("..%2F..%2Fetc%2Fpasswd", "_.._etc_passwd"),
            ("a%22%0D%0ASet-Cookie", "a___Set-Cookie"),
            ("%ff%fe", "__"), (".bashrc", "bashrc"), ("a%20b.txt", "a b.txt"), ("...", "photo"),
        ])
    func disposition(_ name: String?, _ expected: String) {
        #expect(
            AssetRoutes.disposition(name, field: FieldName("photo"))
                == "attachment; filename=\"\(expected)\"")
    }
}
