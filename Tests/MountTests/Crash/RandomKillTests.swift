import Foundation
import TestSupport
import Testing

extension MountTests {
    @Suite struct RandomKillTests {
        private static let kills = LongForm.isAskedFor ? 200 : 60

        @Test("kills under four writers lose no closed save and show no half file")
        func kills() throws {
            let mounted = try MountedStore(patience: 900)
            let folder = try mounted.makeType()
            var random = SeededRandom(seed: 20_261_121)
            for cycle in 1...Self.kills {
                let pid = try #require(mounted.pid)
                let turns = 1 + random.below(12)
                try CrashWriters.run(
                    folder: folder, outside: mounted.outside, pid: pid, cycle: cycle, turns: turns,
                    ways: "plain,fsync,rename,unlink,backup")
                #expect(try mounted.waitForDeath() == 137, "cycle \(cycle)")
                try mounted.mount()
                for writer in 0..<CrashWriters.count {
                    let promises = try CrashWriters.promises(mounted.outside, writer)
                    for key in 0..<CrashWriters.keys {
                        try SavedTurn.check(
                            "\(folder)/w\(writer)-\(key).json", atLeast: promises[key],
                            "cycle \(cycle), turns \(turns)")
                    }
                }
                #expect(try mounted.store.integrity() == "ok", "cycle \(cycle)")
                #expect(try mounted.store.drafts() == 0, "cycle \(cycle)")
            }
            try mounted.unmount()
            let check = try mounted.recordfsResult(["fsck"])
            #expect(check.status == 0, "\(check)")
        }
    }
}

/// A record as the crash writers make them.
struct SavedTurn: Decodable {
    let turn: Int
    let pad: String
    let end: Int

    /// The file is whole and holds the acknowledged turn or a later one; it may be absent only
    /// when no turn was acknowledged.
    static func check(_ path: String, atLeast turn: Int?, _ context: String) throws {
        guard SystemCall.exists(path) else {
            #expect(turn == nil, "\(context): \(path) is gone")
            return
        }
        let bytes = try SystemCall.readFile(path)
        let saved = try? JSONDecoder().decode(SavedTurn.self, from: Data(bytes))
        #expect(saved?.turn == saved?.end, "\(context): half a file in \(path)")
        #expect(
            (saved?.turn ?? -1) >= (turn ?? 0),
            "\(context): \(path) was acknowledged with turn \(turn ?? 0), shows \(bytes.count) bytes"
        )
    }
}
