import Testing

@testable import RecordServerCore
@testable import RecordSync

/// A daemon stays below what the server allows, so that it is never refused for what it does by itself.
@Suite struct RequestPaceTests {
    @Test("a thousand requests go at once, the next ones a hundred a second")
    func burst() {
        let pace = RequestPace()
        let start = ContinuousClock.now.advanced(by: .seconds(60))
        for _ in 0..<1_000 { #expect(pace.take(at: start) == .zero) }
        for number in 1...50 { #expect(pace.take(at: start) == .milliseconds(number * 10)) }
        // What it had to wait for is over by then, and no more is saved up than at first.
        let later = start.advanced(by: .seconds(3_600))
        for _ in 0..<1_000 { #expect(pace.take(at: later) == .zero) }
        #expect(pace.take(at: later) == .milliseconds(10))
        // A time that was taken before another's, and came after it, gains nothing twice.
        #expect(pace.take(at: start) == .milliseconds(20))
    }

    @Test("whoever asks when the pace says, is never refused by the server's own limit")
    func belowServer() {
        let pace = RequestPace()
        let rate = RateSettings().user
        let start = ContinuousClock.now.advanced(by: .seconds(60))
        var (now, left, refused) = (Duration.zero, rate.burst, 0)
        for _ in 0..<5_000 {
            let wait = pace.take(at: start.advanced(by: now))
            left = min(rate.burst, left + rate.perSecond * (wait / .seconds(1))) - 1
            if left < 0 { refused += 1 }
            now += wait
        }
        #expect(refused == 0)
        #expect(now > .seconds(39) && now < .seconds(41))
    }
}
