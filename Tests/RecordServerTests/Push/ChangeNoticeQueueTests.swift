import RecordModel
import RecordWire
import Testing

@testable import RecordServerCore

@Suite("Queue of notices") struct NoticeQueueTests {
    private func notice(_ zone: String, bytes: Int = 0, records: Int = 1) -> ChangeNotice {
        let stamp = WriteStamp(milliseconds: 0, user: UserName("u"), device: "")
        let key = ZoneKey(
            database: DatabaseKey(
                container: ContainerKey(container: "c", environment: .development),
                owner: UserName("u")), zone: ZoneName(zone))
        return ChangeNotice(
            zone: key,
            changes: (0..<records).map { number in
                ChangeNotice.Change(
                    event: .create,
                    record: StoredRecord(
                        name: RecordName("\(number)"), type: RecordTypeName("T"), tag: 1,
                        position: 1, fields: [UInt8](repeating: 0, count: bytes),
                        created: stamp, modified: stamp))
            }, viewers: [UserName(zone)])
    }

    @Test("beyond its memory notices keep their zone and lose their records")
    func bounded() {
        var queue = ChangeNoticeQueue()
        for number in 0..<40 { queue.append(notice("\(number)", bytes: 1 << 20)) }
        #expect(queue.count == 40)
        let taken = queue.take(40)
        #expect(taken.map { $0.changes.count } == (0..<40).map { $0 < 7 ? 1 : 0 })
        queue.append(notice("later", bytes: 1 << 20))
        #expect(queue.take(1).first?.changes.count == 1)
    }

    @Test("beyond its number the oldest notices go")
    func oldest() {
        var queue = ChangeNoticeQueue()
        for number in 0..<10_001 { queue.append(notice("\(number)", records: 0)) }
        #expect(queue.count == 9_001)
        #expect(queue.take(1).first?.zone.zone == ZoneName("1000"))
    }

    @Test("notices of one zone are told of together, in their order")
    func groups() {
        let groups = NoticeGroup.groups(of: [notice("a"), notice("b"), notice("a", records: 2)])
        #expect(groups.map(\.zone.zone) == [ZoneName("a"), ZoneName("b")])
        #expect(groups[0].changes.count == 3)
        #expect(groups[0].viewers == [UserName("a")])
        #expect(Set(groups[0].changes.map(\.notificationID)).count == 3)
    }

    @Test("a wake before the wait is not lost, and the end stays the end")
    func waiter() async {
        let waiter = PollWaiter(deadline: .now)
        waiter.wake()
        waiter.wake()
        #expect(await waiter.next() == .woken)
        async let next = waiter.next()
        waiter.wake()
        #expect(await next == .woken)
        waiter.end()
        waiter.wake()
        #expect(await waiter.next() == .ended)
        #expect(await waiter.next() == .ended)
    }

    @Test("a poll whose request is cancelled ends")
    func cancelled() async {
        let waiter = PollWaiter(deadline: .now)
        let task = Task { await waiter.next() }
        task.cancel()
        #expect(await task.value == .ended)
    }
}
