import RecordModel
import RecordServerCore
import RecordWire
import Testing

@Suite("Storage: push") struct StoragePushTests {
    typealias Sample = StorageSample

    private func key(
        _ user: UserName, _ scope: DatabaseScope,
        _ container: ContainerKey = Sample.container
    ) -> SubscriptionKey { SubscriptionKey(container: container, user: user, scope: scope) }

    private func row(_ key: SubscriptionKey, _ id: Text, _ text: String = "{}") -> SubscriptionRow {
        SubscriptionRow(key: key, subscriptionID: id, dictionary: Array(text.utf8))
    }

    private func device(
        _ hash: Text, seen: Int64 = 1, credential: Text = "session"
    ) -> PushDeviceRow {
        PushDeviceRow(
            courierHash: hash, container: Sample.container, user: Sample.alice,
            credential: credential, clientID: "c", apnsEnvironment: "development", apnsToken: "t",
            lastSeenMilliseconds: seen)
    }

    @Test("subscriptions belong to a user in a scope of a container", arguments: StorageSubject.all)
    func subscriptions(subject: StorageSubject) async throws {
        let storage = try subject.open()
        let mine = key(Sample.alice, .private)
        let rows = [
            row(mine, "b"), row(mine, "a"), row(key(Sample.alice, .shared), "a"),
            row(key(Sample.bob, .public), "p"), row(key(Sample.alice, .public), "q"),
            row(key(Sample.alice, .public, Sample.production), "r"),
        ]
        try await storage.write { (transaction) throws(ServerError) in
            for row in rows { try transaction.putSubscription(row) }
        }
        let (all, everybodys, one, none) = try await storage.read {
            (reader) throws(ServerError) in
            (
                try reader.subscriptions(mine),
                try reader.publicSubscriptions(Sample.container),
                try reader.subscription(mine, "b"), try reader.subscription(mine, "c")
            )
        }
        #expect(all == [rows[1], rows[0]])
        #expect(everybodys == [rows[4], rows[3]])
        #expect(one == rows[0])
        #expect(none == nil)
        let changed = row(mine, "b", #"{"x":1}"#)
        let rest = try await storage.write { (transaction) throws(ServerError) in
            try transaction.putSubscription(changed)
            try transaction.deleteSubscription(mine, "a")
            return try transaction.subscriptions(mine)
        }
        #expect(rest == [changed])
    }

    @Test(
        "a queue gives its frames in order and loses the oldest at its limit",
        arguments: StorageSubject.all)
    func frames(subject: StorageSubject) async throws {
        let storage = try subject.open()
        let rows = [device("one"), device("two")]
        try await storage.write { (transaction) throws(ServerError) in
            for row in rows { try transaction.putPushDevice(row) }
            for number in UInt8(1)...5 {
                try transaction.enqueueFrame(courierHash: "one", [number], limit: 3)
            }
            try transaction.enqueueFrame(courierHash: "unknown", [9], limit: 3)
        }
        let waiting = try await storage.read { (reader) throws(ServerError) in
            try reader.devicesWithFrames(among: ["two", "one", "unknown"])
        }
        #expect(waiting == ["one"])
        let (frames, others) = try await storage.write { (transaction) throws(ServerError) in
            // Putting the device again does not touch its queue.
            try transaction.putPushDevice(rows[0])
            var frames: [[UInt8]] = []
            while let frame = try transaction.dequeueFrame(courierHash: "one") {
                frames.append(frame)
            }
            return (frames, try transaction.dequeueFrame(courierHash: "two"))
        }
        #expect(frames == [[3], [4], [5]])
        #expect(others == nil)
    }

    @Test(
        "devices are replaced, listed by user, and forgotten with their queues",
        arguments: StorageSubject.all)
    func devices(subject: StorageSubject) async throws {
        let storage = try subject.open()
        var changed = device("one", seen: 50)
        changed.isRegistered = false
        let two = device("two", seen: 60, credential: "key")
        let (row, old) = (changed, device("old", seen: 5))
        let ended = ["ended", "late", "revoked"].map { (credential: Text) in
            device(credential, seen: 70, credential: credential)
        }
        let (one, all, none) = try await storage.write { (transaction) throws(ServerError) in
            try Self.putCredentials(transaction)
            for device in [self.device("one"), two, old] + ended {
                try transaction.putPushDevice(device)
            }
            try transaction.putPushDevice(row)
            try transaction.enqueueFrame(courierHash: "old", [1], limit: 9)
            try transaction.removePushDevices(lastSeenBefore: 50, at: 100)
            return (
                try transaction.pushDevice(courierHash: "one"),
                try transaction.pushDevices(Sample.container, Sample.alice),
                try transaction.pushDevices(Sample.production, Sample.alice)
            )
        }
        #expect(one == row)
        #expect(all == [row, two])
        #expect(none.isEmpty)
        let rest = try await storage.write { (transaction) throws(ServerError) in
            try transaction.enqueueFrame(courierHash: "two", [1], limit: 9)
            for hash: Text in ["two", "old"] {
                try transaction.deletePushDevice(courierHash: hash)
                // The queue of the device before is not there for one of the same name.
                try transaction.putPushDevice(self.device(hash))
            }
            return try transaction.devicesWithFrames(among: ["two", "old"])
        }
        #expect(rest.isEmpty)
    }

    /// Sessions and keys: two that are good at the time 100, and what is not.
    private static func putCredentials(_ transaction: any StorageTransaction) throws(ServerError) {
        for (id, expires) in [("session", 100), ("ended", 200), ("late", 99)] as [(Text, Int64)] {
            var session = SessionRow(
                id: id, user: Sample.alice, container: Sample.container, createdMilliseconds: 1,
                expiresMilliseconds: expires, label: "")
            session.isRevoked = id == "ended"
            try transaction.putSession(session)
        }
        for id in ["key", "revoked"] as [Text] {
            var key = ServerKeyRow(
                keyID: id, container: Sample.container, publicKeyPEM: "", name: "",
                user: Sample.alice, createdMilliseconds: 1)
            key.isRevoked = id == "revoked"
            try transaction.putServerKey(key)
        }
    }
}
