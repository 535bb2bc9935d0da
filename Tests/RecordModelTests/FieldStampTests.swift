import RecordModel
import Testing

@Suite("Stamps of fields")
struct FieldStampTests {
    private func time(_ seconds: Int64) -> Timestamp { Timestamp(seconds: seconds) }

    @Test("a stamp is the same after its text, and texts have the order of stamps")
    func text() {
        let times: [Int64] = [0, 1, 65_536, 1_800_000_000_000 << 16, .max]
        let stamps = times.flatMap { time in
            [0, 1, UInt64.max].map { FieldStamp(time: time, device: $0) }
        }
        for (index, stamp) in stamps.enumerated() {
            #expect(FieldStamp(text: stamp.text) == stamp && stamp.text.utf8.count == 33)
            for later in stamps[(index + 1)...] {
                #expect(stamp < later && stamp.text < later.text)
            }
        }
    }

    @Test("a stamp names the last six edits that lost, in its text, too, within 256 bytes")
    func losers() {
        let losers = (1...8).map { LostEdit(FieldStamp(time: Int64($0), device: .max)) }
        let stamp = FieldStamp(time: .max, device: .max).over(losers + losers)
        #expect(stamp.losers == Array(losers.suffix(6)))
        #expect(FieldStamp(text: stamp.text) == stamp && stamp.text.utf8.count <= 256)
        #expect(!(stamp < FieldStamp(time: .max, device: .max)))
        let value = FieldStamp(time: 1, device: 2).over([LostEdit(valueChecksum: -1)])
        #expect(FieldStamp(text: value.text) == value)
    }

    @Test(
        "what another client wrote is no stamp",
        arguments: [
            "", "-", "now", "2026-11-23T10:00:00Z", "0000000000000000",
            "0000000000000000-000000000000000", "8000000000000000-0000000000000000",
            "+000000000000001-0000000000000000", "000000000000000g-0000000000000000",
            "0000000000000000-0000000000000000-0",
        ])
    func foreign(_ text: String) { #expect(FieldStamp(text: text) == nil) }

    @Test("each time is later than the one before, also when the clock goes back")
    func monotonic() {
        var clock = HybridClock(last: 0)
        var last: Int64 = -1
        for now: Int64 in [100, 100, 100, 50, -1, 101, 99, 80_000, 7, .max] {
            let next = clock.tick(time(now))
            #expect(next > last, "\(now)")
            last = next
        }
    }

    @Test("an edit of what was heard is later, also by a clock that is behind")
    func heard() {
        var clock = HybridClock(last: 0)
        let ahead = FieldStamp(at: time(10_000))
        clock.hear(ahead, time(1_000))
        #expect(clock.tick(time(1_000)) > ahead.time)
    }

    @Test("a clock that was years ahead for a while is right again when it was set right")
    func setRight() {
        var clock = HybridClock(last: 0)
        _ = clock.tick(time(4_000_000_000))
        #expect(clock.tick(time(1_000)) == FieldStamp(at: time(1_000)).time)
    }

    @Test("a clock that is days ahead carries nobody along")
    func disbelieved() {
        var clock = HybridClock(last: 0)
        clock.hear(FieldStamp(time: .max, device: 1), time(1_000))
        clock.hear(FieldStamp(at: time(1_000 + 2 * 86_400)), time(1_000))
        #expect(clock.tick(time(1_000)) == FieldStamp(at: time(1_000)).time)
    }
}
