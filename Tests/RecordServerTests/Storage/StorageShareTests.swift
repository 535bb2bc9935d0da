import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Storage: shares") struct StorageShareTests {
    typealias Sample = StorageSample

    private func share(
        _ name: RecordName, _ guid: Text, in zone: ZoneKey = Sample.zone,
        participants: [ParticipantRow] = []
    ) -> ShareRow {
        ShareRow(
            zone: zone, name: name, root: RecordName("root"), shortGUID: guid,
            publicPermission: .readOnly, participants: participants)
    }

    @Test("a share comes back with its participants in their order", arguments: StorageSubject.all)
    func roundTrip(subject: StorageSubject) async throws {
        let storage = try subject.open()
        _ = try await storage.makeZone()
        var row = share(
            Sample.share, "guid",
            participants: [
                ParticipantRow(
                    participantID: "p2", user: Sample.alice,
                    lookup: UserLookup(userName: Sample.alice), type: .owner,
                    permission: .readWrite, status: .accepted),
                ParticipantRow(
                    participantID: "p1", user: nil,
                    lookup: UserLookup(emailAddress: "b@example.org", phoneNumber: "+1"),
                    type: .administrator, permission: .readOnly, status: .invited),
            ])
        func stored() async throws -> [ShareRow] {
            try await storage.read { (reader) throws(ServerError) in
                let one = try reader.share(Sample.zone, Sample.share)
                let all = try reader.shares(Sample.zone)
                let found = try reader.share(Sample.container, shortGUID: "guid")
                return [one, all.first, found].compactMap { $0 }
            }
        }
        row.deniesAccessRequests = true
        row.participants[1].link = "link"
        row.participants[1].isApprovedRequester = true
        row.participants[1].invitedMilliseconds = 5
        row.participants[1].acceptedMilliseconds = 6
        row.requesters = [
            RequesterRow(user: Sample.carol, milliseconds: 7),
            RequesterRow(user: Sample.bob, milliseconds: 1),
        ]
        row.blocked = [
            BlockedRow(lookup: UserLookup(emailAddress: "x@example.org", phoneNumber: "+2")),
            BlockedRow(lookup: UserLookup(userName: Sample.alice)),
        ]
        let first = row
        try await storage.write { (transaction) throws(ServerError) in
            try transaction.putShare(first)
        }
        #expect(try await stored() == [row, row, row])
        let byLink = try await storage.read { (reader) throws(ServerError) in
            try reader.share(Sample.container, link: "link")
        }
        #expect(byLink == row)
        row.requesters = []
        row.blocked.removeFirst()
        row.publicPermission = .none
        row.participants.removeFirst()
        row.participants[0].user = Sample.bob
        row.participants[0].status = .accepted
        let second = row
        try await storage.write { (transaction) throws(ServerError) in
            try transaction.putShare(second)
        }
        #expect(try await stored() == [row, row, row])
        try await storage.write { (transaction) throws(ServerError) in
            try transaction.deleteShare(Sample.zone, Sample.share)
        }
        #expect(try await stored().isEmpty)
        let again = share(Sample.share, "guid")
        try await storage.write { (transaction) throws(ServerError) in
            try transaction.putShare(again)
        }
        #expect(try await stored() == [again, again, again])
    }

    @Test(
        "each report of one reporter and share is kept, the newest first",
        arguments: StorageSubject.all)
    func reports(subject: StorageSubject) async throws {
        let storage = try subject.open()
        func report(_ guid: Text, _ text: Text) -> ShareReport {
            ShareReport(
                zone: Sample.zone, share: Sample.share, shortGUID: guid, reporter: Sample.bob,
                milliseconds: 4, text: text)
        }
        let reports = [report("a", "1"), report("b", "2"), report("a", "3")]
        let found = try await storage.write { (transaction) throws(ServerError) in
            for report in reports { try transaction.putShareReport(report) }
            return try transaction.shareReports(limit: 5)
        }
        #expect(found == reports.reversed())
        let numbers = try await storage.read { (reader) throws(ServerError) in
            try reader.numberedShareReports(limit: 5).map(\.number)
        }
        #expect(Set(numbers).count == 3)
    }

    @Test(
        "a short GUID is found in its container and environment only", arguments: StorageSubject.all
    )
    func shortGUID(subject: StorageSubject) async throws {
        let storage = try subject.open()
        let zone = try await storage.makeZone()
        let one = share(Sample.share, "guid")
        let two = ShareRow(
            zone: Sample.zone, name: .zoneShare, root: nil, shortGUID: "other",
            publicPermission: .unknown, participants: [])
        try await storage.write { (transaction) throws(ServerError) in
            try transaction.putShare(one)
            try transaction.putShare(two)
        }
        func find(_ guid: Text, _ container: ContainerKey = Sample.container) async throws
            -> ShareRow?
        {
            try await storage.read { (reader) throws(ServerError) in
                try reader.share(container, shortGUID: guid)
            }
        }
        #expect(try await find("other") == two)
        #expect(try await find("guid", Sample.production) == nil)
        #expect(try await find("absent") == nil)
        try await storage.write { (transaction) throws(ServerError) in
            try transaction.deleteZone(zone, reason: .deleted)
        }
        #expect(try await find("guid") == nil)
    }

    @Test("viewers see their shared zones by owner and zone", arguments: StorageSubject.all)
    func sharedZones(subject: StorageSubject) async throws {
        let storage = try subject.open()
        let keys = [
            Sample.zone("b"), Sample.zone("a"), Sample.zone("z", of: Sample.bob),
        ]
        for key in keys { _ = try await storage.makeZone(key) }
        let rows = keys.map {
            SharedZoneRow(
                viewer: Sample.carol, zone: $0, incarnation: .max - 1,
                shares: [Sample.share, .zoneShare])
        }
        try await storage.write { (transaction) throws(ServerError) in
            for row in rows { try transaction.putSharedZone(row) }
            var own = rows[0]
            own = SharedZoneRow(
                viewer: Sample.bob, zone: own.zone, incarnation: 1, shares: [])
            try transaction.putSharedZone(own)
        }
        let (carols, productions, one, none, viewers) = try await storage.read {
            (reader) throws(ServerError) in
            (
                try reader.sharedZones(Sample.carol, Sample.container),
                try reader.sharedZones(Sample.carol, Sample.production),
                try reader.sharedZone(Sample.carol, keys[1]),
                try reader.sharedZone(Sample.alice, keys[1]), try reader.viewers(keys[0])
            )
        }
        #expect(carols == [rows[1], rows[0], rows[2]])
        #expect(productions.isEmpty)
        #expect(one == rows[1])
        #expect(none == nil)
        #expect(viewers.map(\.viewer) == [Sample.bob, Sample.carol])
    }

    @Test(
        "a shared zone that is lost leaves a tombstone until it is there again",
        arguments: StorageSubject.all)
    func lost(subject: StorageSubject) async throws {
        let storage = try subject.open()
        _ = try await storage.makeZone()
        let row = SharedZoneRow(
            viewer: Sample.bob, zone: Sample.zone, incarnation: 1, shares: [Sample.share])
        func tombstones(_ viewer: UserName = Sample.bob) async throws -> [ZoneTombstone] {
            try await storage.read { (reader) throws(ServerError) in
                try reader.sharedZoneTombstones(viewer, Sample.container)
            }
        }
        try await storage.write { (transaction) throws(ServerError) in
            try transaction.putSharedZone(row)
            // Who never had the zone learns nothing of it.
            try transaction.deleteSharedZone(Sample.carol, Sample.zone, reason: .deleted)
            try transaction.deleteSharedZone(Sample.bob, Sample.zone, reason: .purged)
        }
        #expect(
            try await tombstones() == [ZoneTombstone(key: Sample.zone, reason: .purged)])
        #expect(try await tombstones(Sample.carol).isEmpty)
        let viewers = try await storage.read { (reader) throws(ServerError) in
            try reader.viewers(Sample.zone)
        }
        #expect(viewers.isEmpty)
        try await storage.write { (transaction) throws(ServerError) in
            try transaction.putSharedZone(row)
        }
        #expect(try await tombstones().isEmpty)
    }

    @Test("a zone that is deleted is lost to everybody who had it", arguments: StorageSubject.all)
    func zoneDeleted(subject: StorageSubject) async throws {
        let storage = try subject.open()
        let zone = try await storage.makeZone()
        let kept = try await storage.makeZone(Sample.zone("Kept"))
        try await storage.write { (transaction) throws(ServerError) in
            for key in [zone.key, kept.key] {
                try transaction.putSharedZone(
                    SharedZoneRow(
                        viewer: Sample.bob, zone: key, incarnation: 1, shares: [Sample.share]))
            }
            try transaction.deleteZone(zone, reason: .deleted)
            _ = try transaction.createZone(Sample.zone, incarnation: 5)
        }
        let (zones, tombstones) = try await storage.read { (reader) throws(ServerError) in
            (
                try reader.sharedZones(Sample.bob, Sample.container),
                try reader.sharedZoneTombstones(Sample.bob, Sample.container)
            )
        }
        #expect(zones.map(\.zone) == [kept.key])
        #expect(tombstones == [ZoneTombstone(key: Sample.zone, reason: .deleted)])
    }
}
