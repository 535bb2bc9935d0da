import RecordModel
import TestSupport
import Testing

@testable import RecordTree

/// Failed and repeated writes beside the set of bytes that are missing.
@Suite("Missing bytes beside the set of them")
struct WriteFailureWalkTests {
    private static let error = RecordError(.noSpace, "full")

    @Test("a file is whole again exactly when each missing byte was written", arguments: 1...40)
    func walk(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        var failure: WriteFailure?
        var missing: Set<Int64> = []
        var steps: [String] = []
        for _ in 0..<200 {
            let (offset, count) = (Int64(random.below(40)), random.below(12))
            switch random.below(8) {
            case 0, 1:
                failure.note(offset: offset, count: count, Self.error)
                // A failed write of nothing still is a failed write.
                missing.formUnion(offset..<offset + Int64(max(1, count)))
                steps.append("fail \(offset) \(count)")
            case 2:
                failure.noteSize(offset)
                // Ranges that begin behind the new end go, and their writer continues from there.
                let behind = Self.ranges(missing).filter { $0.lowerBound >= offset }
                for range in behind { missing.subtract(range) }
                if !behind.isEmpty { missing.insert(offset) }
                steps.append("size \(offset)")
            default:
                failure.noteWrite(offset: offset, count: count)
                missing.subtract(offset..<offset + Int64(count))
                steps.append("write \(offset) \(count)")
            }
            let shown = Set((failure?.missing ?? []).flatMap(Array.init))
            guard shown == missing, (failure == nil) == missing.isEmpty else {
                Issue.record("\(shown.sorted()), not \(missing.sorted()), after \(steps)")
                return
            }
        }
    }

    /// Returns the bytes as ranges that do not meet.
    private static func ranges(_ bytes: Set<Int64>) -> [Range<Int64>] {
        bytes.sorted().reduce(into: []) { ranges, byte in
            if let last = ranges.last, last.upperBound == byte {
                ranges[ranges.count - 1] = last.lowerBound..<byte + 1
            } else {
                ranges.append(byte..<byte + 1)
            }
        }
    }

    @Test("the first reason stays, and so many gaps that nobody counts them are one")
    func bounds() {
        var failure: WriteFailure?
        failure.note(offset: 0, count: 1, Self.error)
        for number in 1...1000 {
            failure.note(
                offset: Int64(number) * 10, count: 1, RecordError(.ioFailure, "\(number)"))
        }
        #expect(failure?.error.code == .noSpace)
        #expect(failure.map { $0.missing.count < 300 } == true)
        failure.noteWrite(offset: 0, count: 10_000)
        #expect(failure != nil, "the last byte is missing")
        failure.noteWrite(offset: 10_000, count: 1)
        #expect(failure == nil)
    }

    @Test("the ends of the numbers trap nothing")
    func ends() {
        for (offset, count) in [(Int64.max, 1), (.max - 1, .max), (.min, 1), (-1, 1), (0, .max)] {
            var failure: WriteFailure?
            failure.note(offset: offset, count: count, Self.error)
            #expect(failure != nil)
            failure.noteSize(.max)
            failure.noteSize(0)
            failure.noteWrite(offset: 0, count: .max)
            failure.note(offset: offset, count: count, Self.error)
        }
    }
}
