import Testing

@testable import recordfs

/// When commands say how far they are, without time that passes.
@Suite struct ProgressPaceTests {
    private func times(_ pace: ProgressPace, until end: Int) -> [Int] {
        var pace = pace
        return stride(from: 0, through: end, by: 50).filter { pace.isDue(after: .milliseconds($0)) }
    }

    @Test(
        "a query says nothing in its first second, and then ten times a second, or once in a file")
    func query() {
        let terminal = ProgressPace(firstAfter: .seconds(1), pause: .milliseconds(100))
        #expect(times(terminal, until: 950) == [])
        #expect(times(terminal, until: 1_300) == [1_000, 1_100, 1_200, 1_300])
        let file = ProgressPace(firstAfter: .seconds(1), pause: .seconds(1))
        #expect(times(file, until: 3_500) == [1_000, 2_000, 3_000])
    }

    @Test("an import on a terminal has its bar at once")
    func importing() {
        let pace = ProgressPace(firstAfter: nil, pause: .milliseconds(100))
        #expect(times(pace, until: 250) == [100, 200])
    }

    @Test("who comes late is told once, and then after the pause")
    func late() {
        var pace = ProgressPace(firstAfter: .seconds(1), pause: .seconds(1))
        let isDue = [44_000, 44_900, 45_000].map { pace.isDue(after: .milliseconds($0)) }
        #expect(isDue == [true, false, true])
    }
}
