import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import RecordServerHTTP

@Suite("The table of connections") struct ConnectionTableTests {
    private func table(perAddress: Int, all: Int = 1_000) -> ConnectionTable {
        var limits = HTTPLimits()
        limits.connectionsPerAddress = perAddress
        limits.connections = all
        return ConnectionTable(limits: limits, unlimited: [])
    }

    @Test("all addresses of a network of IPv6 count as one client, and IPv4 is IPv4 in any form")
    func clients() {
        let table = table(perAddress: 2)
        #expect(table.open("2001:db8::1").refused == nil)
        #expect(table.open("2001:db8::2:1").refused == nil)
        #expect(table.open("2001:db8::ffff").refused == .address)
        #expect(table.open("2001:db8:0:1::1").refused == nil)
        #expect(table.open("192.0.2.1").refused == nil)
        #expect(table.open("::ffff:192.0.2.1").refused == nil)
        #expect(table.open("192.0.2.1").refused == .address)
    }

    @Test(
        "idle connections go first, then unfinished requests; of each the one that waits for longest"
    )
    func order() {
        let table = table(perAddress: 5)
        let now = NIODeadline.now()
        let ended = Mutex<[Int]>([])
        let kinds: [(ConnectionPlace.Waiting, Int64)] = [
            (.requestEnd, 2), (.requestEnd, 9), (.nextRequest, 1), (.nextRequest, 5), (.none, 99),
        ]
        for (index, (kind, seconds)) in kinds.enumerated() {
            let (place, refused) = table.open("192.0.2.1")
            #expect(refused == nil)
            place.onShed { ended.withLock { $0.append(index) } }
            place.note(kind, since: now - .seconds(seconds))
        }
        for _ in 0..<4 { #expect(table.open("192.0.2.1").refused == nil) }
        #expect(ended.withLock { $0 } == [3, 2, 1, 0])
        #expect(table.open("192.0.2.1").refused == .address)
    }

    @Test("a refused connection counts no more, and its end makes no room")
    func refusedOnes() {
        let table = table(perAddress: 2)
        let busy = (0..<2).map { _ in table.open("192.0.2.1").place }
        for place in busy { place.note(.none, since: .now()) }
        for _ in 0..<5 {
            let (place, refused) = table.open("192.0.2.1")
            #expect(refused == .address)
            // It waits for its client to close.
            place.note(.nextRequest, since: .now())
        }
        table.close(busy[0])
        #expect(table.open("192.0.2.1").refused == nil)
        #expect(table.open("192.0.2.1").refused == .address)
    }

    @Test("nothing is left of a connection that has ended")
    func nothingLeft() throws {
        weak var gate: ConnectionGate?
        weak var place: ConnectionPlace?
        try {
            let channel = EmbeddedChannel()
            let table = table(perAddress: 5)
            let opened = table.open("192.0.2.1").place
            let made = ConnectionGate(
                limits: HTTPLimits(), metrics: ServerMetrics(), place: opened, refused: nil)
            try channel.pipeline.syncOperations.addHandler(made)
            channel.pipeline.fireChannelActive()
            (gate, place) = (made, opened)
            #expect(gate != nil)
            _ = try channel.finish()
            table.close(opened)
        }()
        #expect(gate == nil)
        #expect(place == nil)
    }
}
