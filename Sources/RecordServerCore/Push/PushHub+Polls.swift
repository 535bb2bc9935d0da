package import RecordModel
package import RecordWire
import Synchronization

/// The outcome of a long poll.
package enum PollOutcome: Sendable, Hashable {
    /// The oldest frame, which is now removed from the queue.
    case frame([UInt8])
    /// Nothing arrived in time. Poll again.
    case empty
    /// The device is unknown or forgotten, or its session has ended.
    case gone
}

extension PushHub {
    /// Returns the hash under which the storage knows a courier URL.
    static func courierHash(_ secret: Text) -> Text {
        Text(SHA256.hash(Array("courier".utf8) + [0] + secret.utf8).hex)
    }

    /// Waits for a frame for the device with this courier secret.
    ///
    /// A second poll of a device ends the first, because a client that asks again has lost the
    /// first answer.
    package func poll(secret: Text, now: Timestamp) async throws(ServerError) -> PollOutcome {
        let hash = Self.courierHash(secret)
        guard try await see(hash, now: now) else { return .gone }
        let begin = ContinuousClock.now
        let waiter = PollWaiter(deadline: begin + settings.holdTime)
        guard register(waiter, hash) else { return .empty }
        defer { unregister(waiter, hash) }
        signals.send(.polls(hash, hub: number, since: begin))
        // A reader looks first, because most polls find nothing then, and there is one writer.
        var hasFrame = try await hasFrame(hash)
        repeat {
            if hasFrame, let outcome = try await take(hash, now: now) { return outcome }
            hasFrame = true
        } while await waiter.next() == .woken
        return .empty
    }

    /// Puts back a frame that could not be sent. It is then the newest one.
    package func giveBack(_ frame: [UInt8], secret: Text) async {
        let hash = Self.courierHash(secret)
        let limit = settings.maximumFrames
        do throws(ServerError) {
            try await storage.writeHint { transaction throws(ServerError) in
                guard try transaction.pushDevice(courierHash: hash) != nil else { return }
                try transaction.enqueueFrame(courierHash: hash, frame, limit: limit)
            }
        } catch {
            state.withLock { $0.statistics.failures += 1 }
        }
        signals.send(.frames([hash]))
    }

    /// Receives a signal of this process or of another one.
    func receive(_ signal: CourierSignal) {
        switch signal {
        case .frames(let hashes):
            for poll in state.withLock({ state in hashes.compactMap { state.polls[$0] } }) {
                poll.wake()
            }
        case .polls(let hash, let hub, let begin):
            let poll = state.withLock { $0.polls[hash] }
            guard hub != number, let poll, poll.deadline <= begin + settings.holdTime else {
                return
            }
            poll.end()
        }
    }

    /// Ends all polls with an empty answer, and every later poll at once.
    package func shutdown() {
        let polls = state.withLock { state in
            state.isShutDown = true
            return Array(state.polls.values)
        }
        for poll in polls { poll.end() }
    }

    /// Removes devices that have not polled for a long time, and those of ended sessions.
    package func sweep(now: Timestamp) async throws(ServerError) {
        let milliseconds = now.nanoseconds / 1_000_000
        let limit = milliseconds - Int64(settings.deviceSeconds) * 1000
        try await storage.write { transaction throws(ServerError) in
            try transaction.removePushDevices(lastSeenBefore: limit, at: milliseconds)
        }
    }

    /// Returns whether the device belongs to somebody. Notes once an hour that it was here.
    private func see(_ hash: Text, now: Timestamp) async throws(ServerError) -> Bool {
        let milliseconds = now.nanoseconds / 1_000_000
        let device = try await storage.read { reader throws(ServerError) in
            try self.device(hash, at: milliseconds, reader)
        }
        guard let device else { return false }
        guard milliseconds - device.lastSeenMilliseconds > 3_600_000 else { return true }
        return try await storage.write { transaction throws(ServerError) in
            guard var device = try self.device(hash, at: milliseconds, transaction)
            else { return false }
            device.lastSeenMilliseconds = milliseconds
            try transaction.putPushDevice(device)
            return true
        }
    }

    private func device(
        _ hash: Text, at milliseconds: Int64, _ reader: any StorageReader
    ) throws(ServerError) -> PushDeviceRow? {
        guard let device = try reader.pushDevice(courierHash: hash),
            device.lastSeenMilliseconds >= milliseconds - Int64(settings.deviceSeconds) * 1000,
            let user = try reader.user(device.user), !user.isDisabled,
            try reader.hasGoodCredential(device, at: milliseconds)
        else { return nil }
        return device
    }

    private func hasFrame(_ hash: Text) async throws(ServerError) -> Bool {
        try await storage.read { reader throws(ServerError) in
            try !reader.devicesWithFrames(among: [hash]).isEmpty
        }
    }

    /// Takes the next frame. Returns nil when there is none. A poll may have waited for a long time,
    /// so its session can have ended since.
    private func take(_ hash: Text, now: Timestamp) async throws(ServerError) -> PollOutcome? {
        let milliseconds = now.nanoseconds / 1_000_000
        return try await storage.writeHint { transaction throws(ServerError) -> PollOutcome? in
            guard try self.device(hash, at: milliseconds, transaction) != nil else { return .gone }
            return try transaction.dequeueFrame(courierHash: hash).map { .frame($0) }
        }
    }

    private func register(_ waiter: PollWaiter, _ hash: Text) -> Bool {
        let (isOpen, older, mustLook) = state.withLock { state in
            guard !state.isShutDown else { return (false, nil as PollWaiter?, false) }
            let older = state.polls.updateValue(waiter, forKey: hash)
            let mustLook = !state.isLooking
            state.isLooking = true
            return (true, older, mustLook)
        }
        older?.end()
        if mustLook { Task { await self.look() } }
        return isOpen
    }

    private func unregister(_ waiter: PollWaiter, _ hash: Text) {
        state.withLock { state in
            if state.polls[hash] === waiter { state.polls[hash] = nil }
        }
    }

    /// Serves all polls together, while there are any: ends those whose time is over, and regularly
    /// asks the storage for frames that another process has queued.
    private func look() async {
        let step = min(settings.checkInterval, settings.holdTime / 10, .seconds(1))
        var nextCheck = ContinuousClock.now + settings.checkInterval
        while lookAgain() {
            // Nothing cancels this task.
            try? await Task.sleep(for: step)
            let now = ContinuousClock.now
            let (polls, over) = state.withLock { state in
                (Array(state.polls.keys), state.polls.values.filter { $0.deadline <= now })
            }
            for poll in over { poll.end() }
            guard now >= nextCheck else { continue }
            nextCheck = now + settings.checkInterval
            await wakeThoseWithFrames(among: polls)
        }
    }

    private func lookAgain() -> Bool {
        state.withLock { state in
            if state.polls.isEmpty { state.isLooking = false }
            return state.isLooking
        }
    }

    private func wakeThoseWithFrames(among hashes: [Text]) async {
        do throws(ServerError) {
            let found = try await storage.read { reader throws(ServerError) in
                try reader.devicesWithFrames(among: hashes)
            }
            receive(.frames(found))
        } catch {
            state.withLock { $0.statistics.failures += 1 }
        }
    }
}

extension AccountReader {
    /// Returns whether the session or key that a device came from is valid.
    func hasGoodCredential(
        _ device: PushDeviceRow, at milliseconds: Int64
    ) throws(ServerError) -> Bool {
        if let session = try session(device.credential) {
            return session.isGood(for: device.container, at: milliseconds)
        }
        return try serverKey(device.credential).map { !$0.isRevoked } ?? false
    }
}
