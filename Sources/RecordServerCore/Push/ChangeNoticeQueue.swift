import RecordModel
import RecordWire

/// Notices that wait for delivery, within a limit of memory.
///
/// Beyond the limit, notices lose their records, so that subscriptions to zones and databases still
/// work. After that the oldest notices are lost: clients ask for changes after a while anyway.
struct ChangeNoticeQueue: Sendable {
    /// The most bytes of the records in the queue.
    private static let maximumBytes = 8 << 20
    private static let maximumCount = 10_000

    private var notices: [ChangeNotice] = []
    private var bytes = 0

    var count: Int { notices.count }

    mutating func append(_ notice: ChangeNotice) {
        if notices.count == Self.maximumCount { _ = take(Self.maximumCount / 10) }
        let size = Self.size(notice)
        if bytes + size <= Self.maximumBytes {
            bytes += size
            notices.append(notice)
        } else {
            notices.append(
                notice.withoutRecords)
        }
    }

    /// Removes and returns the oldest notices, at most `limit`.
    mutating func take(_ limit: Int) -> [ChangeNotice] {
        let taken = Array(notices.prefix(limit))
        notices.removeFirst(taken.count)
        bytes -= taken.reduce(0) { $0 + Self.size($1) }
        return taken
    }

    private static func size(_ notice: ChangeNotice) -> Int {
        notice.changes.reduce(0) { $0 + $1.record.bytes + 512 }
    }
}

/// Notices of one zone, which are delivered together, because a hint only says that there is
/// something new.
struct NoticeGroup: Sendable {
    let zone: ZoneKey
    private(set) var changes: [(change: ChangeNotice.Change, notificationID: Text)] = []
    private(set) var viewers: [UserName] = []
    private(set) var invitees: [UserName] = []
    /// The origin of all notices. It is nil when they have several, or none.
    private var origin: Text?
    private var count = 0
    private let notificationID: Text

    private init(zone: ZoneKey) {
        self.zone = zone
        notificationID = RequestIdentifier.make()
    }

    static func groups(of notices: [ChangeNotice]) -> [NoticeGroup] {
        var groups: [NoticeGroup] = []
        var indices: [ZoneKey: Int] = [:]
        for notice in notices {
            let index = indices[notice.zone] ?? groups.count
            if index == groups.count { groups.append(NoticeGroup(zone: notice.zone)) }
            indices[notice.zone] = index
            groups[index].add(notice)
        }
        return groups
    }

    private mutating func add(_ notice: ChangeNotice) {
        origin = count == 0 || origin == notice.origin ? notice.origin : nil
        count += 1
        for change in notice.changes {
            // All frames of the first change have the same identifier, for every kind of
            // subscription.
            let id = changes.isEmpty ? notificationID : RequestIdentifier.make()
            changes.append((change, id))
        }
        for viewer in notice.viewers where !viewers.contains(viewer) { viewers.append(viewer) }
        for user in notice.invitees where !invitees.contains(user) { invitees.append(user) }
    }

    func matcher(_ reader: any StorageReader) -> PushMatcher {
        PushMatcher(
            zone: zone, changes: changes, viewers: viewers, invitees: invitees,
            origin: origin, notificationID: notificationID, reader: reader)
    }
}

extension ChangeNotice {
    fileprivate var withoutRecords: ChangeNotice {
        var notice = ChangeNotice(
            zone: zone, changes: [], viewers: viewers, invitees: invitees)
        notice.origin = origin
        return notice
    }
}
