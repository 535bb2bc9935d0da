import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport
import Synchronization
import TestSupport
import Testing

/// A store that this suite is run over.
struct AssetStoreSubject: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let open: @Sendable (TemporaryDirectory) throws -> any AssetStore

    static let all = [
        AssetStoreSubject(testDescription: "a directory") {
            try AssetDirectory(path: $0.path + "/assets")
        },
        AssetStoreSubject(testDescription: "a store of objects") { _ in ObjectAssetStore() },
    ]
}

@Suite("Asset stores") struct AssetStoreTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func put(_ bytes: [UInt8], in store: any AssetStore) async throws -> ContentHash {
        let asset = try await store.begin()
        try await asset.append(bytes)
        let (hash, _) = try await asset.place()
        try await asset.confirm(hash)
        return hash
    }

    @Test("bytes come in by parts and are read by ranges", arguments: AssetStoreSubject.all)
    func ranges(_ subject: AssetStoreSubject) async throws {
        let store = try subject.open(folder)
        let bytes = pattern(200_000)
        let upload = try await store.begin()
        for start in stride(from: 0, to: bytes.count, by: 70_000) {
            try await upload.append(Array(bytes[start..<min(start + 70_000, bytes.count)]))
        }
        let (hash, size) = try await upload.place()
        #expect(hash == SHA256.hash(bytes) && size == 200_000)
        let asset = try await store.open(hash)
        #expect(asset.size == 200_000)
        #expect(try await asset.read(at: 150_000, count: 100) == Array(bytes[150_000..<150_100]))
        #expect(try await asset.read(at: 199_999, count: 100) == [bytes[199_999]])
        #expect(try await store.find(SHA256.hash([1])) == nil)
    }

    @Test("contents are listed in pages by their hash", arguments: AssetStoreSubject.all)
    func lists(_ subject: AssetStoreSubject) async throws {
        let store = try subject.open(folder)
        var hashes: [String] = []
        for number in 0..<40 { hashes.append(try await put([UInt8(number)], in: store).hex) }
        _ = try await store.begin()
        for limit in [1, 7, 40, 100] {
            var found: [String] = []
            while true {
                let last = found.last.map { ContentHash(hex: $0) }
                let page = try await store.list(after: last, limit: limit)
                #expect(page.count <= limit)
                if page.isEmpty { break }
                found += page.map(\.hex)
            }
            #expect(found == hashes.sorted())
        }
    }

    @Test("an upload that is not placed leaves nothing", arguments: AssetStoreSubject.all)
    func abandoned(_ subject: AssetStoreSubject) async throws {
        let store = try subject.open(folder)
        try await store.begin().append([1, 2, 3])
        #expect(try await store.list(after: nil, limit: 10) == [])
    }

    @Test("what is removed can be read by who has it open", arguments: AssetStoreSubject.all)
    func held(_ subject: AssetStoreSubject) async throws {
        let store = try subject.open(folder)
        let hash = try await put([1, 2, 3], in: store)
        let asset = try await store.open(hash)
        try await store.remove([hash]) { _ in [] }
        #expect(try await store.find(hash) == nil)
        #expect(try await asset.read(at: 1, count: 9) == [2, 3])
        let error = await #expect(throws: ServerError.self) { _ = try await store.open(hash) }
        #expect(error?.code == .internalError)
    }

    @Test("what is known is not removed", arguments: AssetStoreSubject.all)
    func known(_ subject: AssetStoreSubject) async throws {
        let store = try subject.open(folder)
        let (mine, other) = (try await put([1], in: store), try await put([2], in: store))
        try await store.remove([mine, other]) { _ in [mine] }
        #expect(try await store.list(after: nil, limit: 10) == [mine])
    }

    @Test("a store takes contents of another over", arguments: AssetStoreSubject.all)
    func brings(_ subject: AssetStoreSubject) async throws {
        let store = try subject.open(folder)
        let bytes = pattern(600_000)
        let others: [any AssetStore] = [
            try AssetDirectory(path: folder.path + "/others"), ObjectAssetStore(),
        ]
        for (number, other) in others.enumerated() {
            let content = bytes + [UInt8(number)]
            let hash = try await put(content, in: other)
            #expect(try await store.bring(hash, from: other))
            try await store.sync()
            #expect(try await store.open(hash).read(at: 0, count: 700_000) == content)
            #expect(try await !store.bring(SHA256.hash([1]), from: other))
        }
    }

    /// What an upload does beside a removal: each step once a moment has come, at the latest when
    /// the removal is over.
    private final class Beside: Sendable {
        private enum Step { case place, commit, confirm }
        private let upload: any IncomingAsset
        private let hash: ContentHash
        private let rest: Mutex<[(moment: Int, step: Step)]>
        private let moment = Mutex(0)
        private let isCommitted = Mutex(false)

        init(_ upload: any IncomingAsset, _ hash: ContentHash, at moments: [Int]) {
            self.upload = upload
            self.hash = hash
            rest = Mutex(
                zip(moments, [Step.place, .commit, .confirm]).map { (moment: $0, step: $1) })
        }

        func pass(isOver: Bool = false) async throws(ServerError) {
            let now = moment.withLock { moment in
                defer { moment += 1 }
                return isOver ? .max : moment
            }
            let steps = rest.withLock { rest in
                defer { rest.removeAll { $0.moment <= now } }
                return rest.filter { $0.moment <= now }.map(\.step)
            }
            for step in steps {
                switch step {
                case .place: _ = try await upload.place()
                case .commit: isCommitted.withLock { $0 = true }
                case .confirm: try await upload.confirm(hash)
                }
            }
        }

        /// The answer to a question of a removal, with moments before and after it is known.
        func known() async throws(ServerError) -> Set<ContentHash> {
            try await pass()
            let answer: Set<ContentHash> = isCommitted.withLock { $0 } ? [hash] : []
            try await pass()
            return answer
        }
    }

    /// A removal asks at most twice: six moments with that before it and that after it.
    private static let orders = (0..<6).flatMap { place in
        (place..<6).flatMap { commit in (commit..<6).map { [place, commit, $0] } }
    }

    @Test(
        "whenever an upload comes beside a removal of its bytes, a row has its bytes",
        arguments: AssetStoreSubject.all, [false, true])
    func races(_ subject: AssetStoreSubject, _ hasOld: Bool) async throws {
        #expect(Self.orders.count == 56)
        for order in Self.orders {
            let folder = try TemporaryDirectory()
            let store = try subject.open(folder)
            let hash = SHA256.hash([7])
            if hasOld { _ = try await put([7], in: store) }
            let upload = try await store.begin()
            try await upload.append([7])
            let beside = Beside(upload, hash, at: order)
            try await beside.pass()
            try await store.remove([hash]) { (_) throws(ServerError) in try await beside.known() }
            try await store.endRemovals { (_) throws(ServerError) in try await beside.known() }
            try await beside.pass(isOver: true)
            #expect(try await store.find(hash) != nil, "\(order)")
        }
    }
}
