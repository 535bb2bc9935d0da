import Testing

@testable import FuseKit

/// When a reader stays awake for the next call, with a clock that moves by 1 µs at each reading.
@Suite
struct CallWaitTests {
    @Test("the first call, and a call after a long time, are waited for asleep")
    func asleep() {
        let time = Time()
        var wait = CallWait(clock: time.read)
        #expect(time.looks(in: &wait, callAfter: 0) == 0)
        time.now += CallWait.limit
        wait.end()
        #expect(time.looks(in: &wait, callAfter: 0) == 0)
    }

    @Test("after a call that came soon, the reader looks for the next one until it is there")
    func awake() {
        let time = Time()
        var wait = CallWait(clock: time.read)
        #expect(time.looks(in: &wait, callAfter: 0) == 0)
        wait.end()
        for _ in 0..<3 {
            #expect(time.looks(in: &wait, callAfter: 30_000) > 10)
            #expect(time.now - time.began < 40_000)
            wait.end()
        }
    }

    @Test("a call that does not come is looked for once, for the limit")
    func vain() {
        let time = Time()
        var wait = CallWait(clock: time.read)
        wait.begin { true }
        wait.end()
        #expect(time.looks(in: &wait, callAfter: .max) > 10)
        #expect(CallWait.limit..<(CallWait.limit + 5_000) ~= time.now - time.began)
        time.now += 1
        wait.end()
        #expect(time.looks(in: &wait, callAfter: .max) == 0)
    }

    @Test("a wait that was interrupted counts as any other")
    func interrupted() {
        let time = Time()
        var wait = CallWait(clock: time.read)
        wait.begin { false }
        time.now += 2 * CallWait.limit
        wait.end()
        #expect(!wait.isQuick)
    }
}

/// A clock of a test.
private final class Time {
    var now: UInt64 = 1
    private(set) var began: UInt64 = 0

    func read() -> UInt64 {
        now += 1_000
        return now
    }

    /// Begins a wait.
    /// - Returns: how often the reader looked for the call, which comes after that many nanoseconds.
    func looks(in wait: inout CallWait, callAfter: UInt64) -> Int {
        began = now
        var looks = 0
        wait.begin {
            looks += 1
            return now - began >= callAfter
        }
        return looks
    }
}
