import RecordModel
import TestSupport
import Testing

@testable import RecordStore
@testable import RecordTree

/// The memory of replaced files beside a simple list, with its bounds.
@Suite("Replaced files beside a simple list")
struct PastFilesWalkTests {
    private struct Kept {
        let file: RecordFile
        let bytes: Int
        let since: Duration
    }

    private func replaced(_ record: Int, bytes: Int) -> ReplacedFile {
        let moment = Timestamp(seconds: 1)
        let entry = RecordEntry(
            id: RecordID(Int64(record)), incarnation: 0, type: TypeID(1),
            stem: Stem(bytes: Array("r\(record)".utf8)), state: .saved, hasDraft: false,
            hasAssets: false, isAwaited: false, size: Int64(bytes), modified: moment,
            created: moment, statusChanged: moment)
        return ReplacedFile(
            entry: entry, text: [UInt8](repeating: 0, count: bytes), author: .sync,
            effect: .replaced, version: nil)
    }

    private func check(_ past: PastFiles, _ kept: [Kept]) -> Bool {
        past.violations.isEmpty && past.files.count == kept.count
            && past.bytes == kept.reduce(0) { $0 + $1.bytes }
            && kept.allSatisfy { past[$0.file]?.text.count == $0.bytes }
    }

    @Test("the files of ten seconds stay, the oldest go first", arguments: 1...30)
    func walk(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        var (past, kept, uptime) = (PastFiles(), [Kept](), Duration.seconds(100))
        for _ in 0..<400 {
            let record = random.below(12)
            let file = RecordFile(record: RecordID(Int64(record)), incarnation: 0)
            switch random.below(6) {
            case 0..<3:
                let bytes = random.pick([0, 10, 1 << 20, 3 << 20, 9 << 20])
                past.add(replaced(record, bytes: bytes), at: uptime)
                kept.removeAll { $0.file == file }
                kept.append(Kept(file: file, bytes: bytes, since: uptime))
                while kept.count > 1, kept.reduce(0, { $0 + $1.bytes }) > 8 << 20 {
                    kept.removeFirst()
                }
            case 3:
                past.remove(file)
                kept.removeAll { $0.file == file }
            case 4: uptime += .milliseconds(random.below(4000))
            default:
                let over = kept.filter { $0.since + .seconds(10) <= uptime }
                let bytes = past.removeOld(at: uptime)
                kept.removeAll { $0.since + .seconds(10) <= uptime }
                #expect(bytes == over.reduce(0) { $0 + $1.bytes })
            }
            guard check(past, kept) else {
                Issue.record("keeps \(past.files.keys), not \(kept)")
                return
            }
        }
        _ = past.removeOld(at: uptime + .seconds(11))
        #expect(past.files.isEmpty && past.order.isEmpty && past.first == 0)
    }

    @Test("of very many files the last 4096 stay, and the memory of their order is bounded")
    func many() {
        var past = PastFiles()
        for number in 0..<20_000 { past.add(replaced(number, bytes: 1), at: .seconds(1)) }
        #expect(past.files.count == 4096)
        #expect(past.order.count <= 3 * 4096)
        #expect(past.violations == [])
        let last = RecordFile(record: RecordID(19_999), incarnation: 0)
        let gone = RecordFile(record: RecordID(15_903), incarnation: 0)
        #expect(past[last] != nil && past[gone] == nil)
        // One file again and again does not fill it either.
        for _ in 0..<20_000 { past.add(replaced(1, bytes: 1), at: .seconds(2)) }
        #expect(past.order.count <= 3 * 4096)
        #expect(past.files.count == 4096)
    }
}
