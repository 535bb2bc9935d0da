import Testing

@testable import RecordDaemon

/// The order in which commands for notices run.
@Suite struct NoticeQueueTests {
    private func notice(_ number: Int) -> NoticeQueue.Variables { ["NUMBER": "\(number)"] }

    @Test("four commands run at a time, a hundred wait, and more are left out")
    func limits() {
        var queue = NoticeQueue()
        let turns = (1...106).map { queue.add(notice($0)) }
        #expect(turns.prefix(4).allSatisfy { $0 == .now })
        #expect(turns.dropFirst(4).prefix(100).allSatisfy { $0 == .later })
        #expect(turns.suffix(2).allSatisfy { $0 == .never })
    }

    @Test("a command that has ended makes room for the one that has waited longest")
    func order() {
        var queue = NoticeQueue()
        for number in 1...6 { _ = queue.add(notice(number)) }
        #expect(queue.next() == notice(5))
        #expect(queue.add(notice(7)) == .later)
        #expect(queue.next() == notice(6))
        #expect(queue.next() == notice(7))
        #expect(queue.next() == nil)
        #expect(queue.add(notice(8)) == .now)
        #expect(queue.add(notice(9)) == .later)
    }
}
