import Foundation
import RecordModel
import TestSupport
import Testing

@testable import RecordStore

#if canImport(Glibc)
import Glibc
#endif

/// The seal of stored files: what was done to a file, and what an open of it says and leaves.
@Suite struct AssetSealTests {
    enum Change: CaseIterable {
        case nothing, touched, rewrittenAlike, otherBytes, otherBytesOfSealedTime, longer, shorter
        case empty, missing, folder, link, otherSeal, fraction
    }

    private let fixture: StoreFixture
    private let hash: ContentHash
    private let path: String
    private let files: AssetFiles
    private static let bytes = "the bytes of the file"
    private var size: Int64 { Int64(Self.bytes.utf8.count) }

    init() throws {
        fixture = try StoreFixture()
        hash = try fixture.importBytes(Self.bytes).hash
        path = fixture.store.assets.assetPath(hash)
        files = AssetFiles(places: fixture.store.places)
    }

    private func write(_ text: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path))
    }

    private func setTime(_ seconds: Int, _ nanoseconds: Int = 0) {
        var times = [timespec](
            repeating: timespec(tv_sec: seconds, tv_nsec: nanoseconds), count: 2)
        #expect(utimensat(AT_FDCWD, path, &times, AT_SYMLINK_NOFOLLOW) == 0)
    }

    private func time() -> Int {
        var information = stat()
        return lstat(path, &information) == 0 ? information.st_mtim.tv_sec : -1
    }

    /// Does something to the stored file. Returns whether its bytes are still those of its name, and
    /// whether its seal says so.
    private func apply(_ change: Change) throws -> (isWhole: Bool, isSealed: Bool) {
        let seal = time()
        switch change {
        case .nothing: return (true, true)
        case .touched: setTime(1_800_000_000)
        case .fraction: setTime(seal, 5)
        case .otherSeal: setTime(seal + 2)
        case .rewrittenAlike: try write(Self.bytes)
        case .otherBytes: try write("The bytes of the file")
        case .otherBytesOfSealedTime:
            try write("The bytes of the file")
            setTime(seal)
            // Only a full check reads a file whose seal is whole.
            return (false, true)
        case .longer: try write(Self.bytes + ".")
        case .shorter: try write("the")
        case .empty: try write("")
        case .missing: try FileManager.default.removeItem(atPath: path)
        case .folder:
            try FileManager.default.removeItem(atPath: path)
            #expect(mkdir(path, 0o700) == 0)
        case .link:
            try FileManager.default.moveItem(atPath: path, toPath: path + "x")
            #expect(symlink(path + "x", path) == 0)
        }
        return ([.touched, .fraction, .otherSeal, .rewrittenAlike].contains(change), false)
    }

    @Test(
        "a change is found, except one that keeps the seal, and an unchanged file is sealed again",
        arguments: Change.allCases)
    func table(_ change: Change) throws {
        let (isWhole, isSealed) = try apply(change)
        #expect(files.isSealed(hash, size: size) == isSealed)
        let before = time()
        let error = failure { try fixture.store.assets.checkAsset(hash, size: size) }
        #expect(error?.code == (isWhole || isSealed ? nil : .corrupt))
        #expect(files.isSealed(hash, size: size) == (isWhole || isSealed))
        if error != nil { #expect(time() == before, "a damaged file is left as it is") }
        let right = try? fixture.store.assets.hashOfFile(hash)
        #expect((right == hash) == isWhole)
        // The right size is a part of what is asked for.
        for other in [size - 1, size + 1, 0] where change != .empty {
            #expect(!files.isSealed(hash, size: other))
            #expect(failure { try fixture.store.assets.checkAsset(hash, size: other) } != nil)
        }
    }

    @Test(
        "an import of the same bytes mends a damaged file and seals it", arguments: Change.allCases)
    func importedAgain(_ change: Change) throws {
        guard change != .folder, change != .link else { return }
        _ = try apply(change)
        #expect(try fixture.importBytes(Self.bytes).hash == hash)
        let isMended = try fixture.store.assets.hashOfFile(hash) == hash
        #expect(isMended || change == .otherBytesOfSealedTime)
        try fixture.store.assets.checkAsset(hash, size: size)
        #expect(files.isSealed(hash, size: size))
    }

    @Test("each hash has a time of its own that no clock shows any more")
    func times() throws {
        var random = SeededRandom(seed: 1)
        var times: Set<Int> = []
        for number in 0..<40 {
            let imported = try fixture.importBytes("\(number) \(random.next())")
            let path = fixture.store.assets.assetPath(imported.hash)
            var information = stat()
            #expect(lstat(path, &information) == 0)
            let time = information.st_mtim.tv_sec
            #expect(time.isMultiple(of: 2) && (315_532_800..<946_684_800).contains(time))
            #expect(information.st_mtim.tv_nsec == 0)
            times.insert(time)
        }
        #expect(times.count == 40)
    }
}
