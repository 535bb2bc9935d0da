import Glibc
import RecordControl
import TestSupport
import Testing

@testable import RecordDaemon

/// The file of refused saves that shells read.
@Suite struct RefusalLogTests {
    @Test("each notice is one line, whatever a path has in it, and the folder is made")
    func lines() throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/logs/refused"
        let log = RefusalLog(path: path)
        log.append(["refused", "/m/a\nb.json", "no JSON"])
        log.append(["saved", "/m/c.json"])
        let text = String(decoding: try readWholeFile(path), as: UTF8.self)
        #expect(text == "refused\t/m/a\\u{a}b.json\tno JSON\nsaved\t/m/c.json\n")
    }

    @Test("a long file begins again")
    func limit() throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/refused"
        try writeWholeFile([UInt8](repeating: 0x0A, count: (256 << 10) + 1), to: path)
        RefusalLog(path: path).append(["saved", "/m/c.json"])
        #expect(String(decoding: try readWholeFile(path), as: UTF8.self) == "saved\t/m/c.json\n")
    }
}
