import Dispatch
import RecordModel
import RecordWire
import Synchronization
import TestSupport
import Testing

@testable import RecordServerCore
@testable import RecordServerSQLite

/// Owners sign in while strangers guess.
@Suite("Sign-in while others guess") struct SignInAttackTests {
    /// A queue that hashes nothing until it is opened.
    private final class ClosedQueue: Sendable {
        let queue = ScryptQueue(width: 1, maximumWaiting: 50)
        private let gate = DispatchSemaphore(value: 0)
        private let first: Task<Void, Never>

        init() async throws {
            first = Task { [queue, gate] in
                _ = try? await queue.perform(.owner) {
                    gate.wait()
                    return []
                }
            }
            try await wait { queue.load.running == 1 }
        }

        func open() async {
            gate.signal()
            await first.value
        }

        func wait(_ isTrue: @Sendable () -> Bool) async throws {
            let deadline = Deadline(seconds: 30)
            while !isTrue() {
                try #require(!deadline.isOver, "\(queue.load)")
                await Task.yield()
            }
        }
    }

    /// What happened, in its order.
    private final class Noted<Element: Sendable>: Sendable {
        private let kept = Mutex<[Element]>([])
        var all: [Element] { kept.withLock { $0 } }
        func append(_ element: Element) { kept.withLock { $0.append(element) } }
    }

    private func signIn(
        _ house: CredentialHouse, _ queue: ScryptQueue, _ throttles: LocalThrottles
    ) -> PasswordSignIn {
        PasswordSignIn(
            storage: house.storage, throttles: throttles, cost: .quick, queue: queue)
    }

    private enum Outcome: Hashable { case signedIn, wrong, refused(ServerErrorCode) }

    private func attempt(
        _ signIn: PasswordSignIn, _ house: CredentialHouse, _ password: String,
        from address: String,
        device: KnownDevice? = nil
    ) async -> Outcome {
        do throws(ServerError) {
            let user = try await signIn.user(
                emailAddress: "alice@example.org", password: Array(password.utf8),
                address: address, device: device, now: house.clock.now)
            return user == nil ? .wrong : .signedIn
        } catch {
            return .refused(error.code)
        }
    }

    private func know(_ address: Text, _ house: CredentialHouse) async throws {
        let event = AccountEvent(
            user: house.user.name, kind: .signedIn,
            milliseconds: house.clock.now.nanoseconds / 1_000_000, address: address)
        try await house.storage.write { (transaction) throws(ServerError) in
            try transaction.addAccountEvent(event)
        }
    }

    @Test("who is known comes before who is not, and who has guessed gives up the place")
    func ranks() async throws {
        let closed = try await ClosedQueue()
        let queue = closed.queue
        let served = Noted<String>()
        let refused = Noted<String>()
        @Sendable func hash(_ name: String, _ rank: ScryptRank) async {
            do throws(ServerError) {
                _ = try await queue.perform(rank) {
                    served.append(name)
                    return [1]
                }
            } catch {
                refused.append(name)
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<60 { group.addTask { await hash("guess", .stranger(failures: 7)) } }
            try await closed.wait { refused.all.count == 10 }
            let better: [(String, ScryptRank)] = [
                ("new", .stranger(failures: 1)), ("address", .knownAddress), ("owner", .owner),
                ("device", .knownDevice),
            ]
            for (name, rank) in better { group.addTask { await hash(name, rank) } }
            // Three of those who guess make room; who is signed in needs none.
            try await closed.wait {
                refused.all.count == 13 && queue.load.waiting == 51
            }
            await closed.open()
            try await group.waitForAll()
        }
        #expect(
            Array(served.all.prefix(5)) == [
                "device", "owner", "address", "new", "guess",
            ])
        #expect(served.all.count == 51)
        #expect(Set(refused.all) == ["guess"])
        #expect(queue.load == (0, 0))
    }

    @Test("an attack of 120 addresses shuts nobody out who has signed in before")
    func attack() async throws {
        let house = try await CredentialHouse()
        let closed = try await ClosedQueue()
        let throttles = LocalThrottles()
        let signIn = signIn(house, closed.queue, throttles)
        try await know("198.51.100.7", house)
        var device = KnownDevice()
        device.add(house.user.name)
        let known = device
        let refused = Noted<String>()
        let owners = Noted<Outcome>()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<120 {
                group.addTask {
                    let address = "192.0.2.\(number)"
                    let outcome = await attempt(signIn, house, "a guess", from: address)
                    #expect(outcome == .wrong || outcome == .refused(.tryAgainLater))
                    if outcome != .wrong { refused.append(address) }
                }
            }
            try await closed.wait { refused.all.count == 70 }
            for (address, device) in [
                ("203.0.113.1", known as KnownDevice?), ("198.51.100.7", nil),
            ] {
                group.addTask {
                    let outcome = await attempt(
                        signIn, house, "correct horse", from: address, device: device)
                    owners.append(outcome)
                }
            }
            try await closed.wait { refused.all.count == 72 }
            await closed.open()
            try await group.waitForAll()
        }
        #expect(owners.all == [.signedIn, .signedIn])
        // Whose password nobody has looked at, has failed at nothing.
        for address in refused.all {
            let charge = ThrottleCharge(
                .failuresOfAddress, address, Allowance(count: 30, milliseconds: 20_000))
            #expect(throttles.missing(charge, now: house.clock.now) == 0)
        }
    }

    @Test("guesses from everywhere shut out neither known places nor, repeated, new ones")
    func manyPlaces() async throws {
        let house = try await CredentialHouse()
        let signIn = signIn(house, .shared, LocalThrottles())
        try await know("198.51.100.7", house)
        for round in 0..<8 {
            for number in 0..<30 {
                let outcome = await attempt(
                    signIn, house, "guess \(round)", from: "192.0.2.\(number)")
                #expect(outcome != .signedIn)
            }
        }
        #expect(await attempt(signIn, house, "correct horse", from: "203.0.113.5") == .signedIn)
        for number in 0..<250 {
            _ = await attempt(signIn, house, "guess", from: "10.0.\(number / 200).\(number % 200)")
        }
        let stranger = await attempt(signIn, house, "correct horse", from: "203.0.113.6")
        #expect(stranger == .refused(.throttled))
        #expect(await attempt(signIn, house, "correct horse", from: "198.51.100.7") == .signedIn)
        // What makes an address known is forgotten with time.
        house.clock.advance(.seconds(91 * 86_400))
        for number in 0..<250 {
            _ = await attempt(signIn, house, "guess", from: "10.1.\(number / 200).\(number % 200)")
        }
        let later = await attempt(signIn, house, "correct horse", from: "198.51.100.7")
        #expect(later == .refused(.throttled))
    }
}
