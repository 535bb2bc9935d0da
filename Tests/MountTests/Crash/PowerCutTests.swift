import Foundation
import Testing

extension MountTests {
    @Suite struct PowerCutTests {
        @Test("what fsync acknowledged is there after the power of the store's disk was cut")
        func powerCut() throws {
            let disk = try LoopFileSystem(kind: "xfs", megabytes: 320)
            let mounted = try MountedStore(state: "\(disk.directory)/state", patience: 300)
            let folder = try mounted.makeType()
            try SystemCall.syncDirectory(folder)
            var fsynced: [String: Int] = [:]
            for cut in 1...10 {
                for turn in 1...(cut * 7) {
                    let name = "rec-\(turn % 5)"
                    let number = cut * 1000 + turn
                    try SystemCall.writeFile(
                        "\(folder)/\(name).json",
                        "{\"turn\": \(number), \"pad\": \"\", \"end\": \(number)}", sync: true)
                    fsynced[name] = number
                    // A save without fsync may be lost, but not be half there.
                    try SystemCall.writeFile(
                        "\(folder)/loose-\(turn % 5).json",
                        "{\"turn\": \(number), \"pad\": \"\", \"end\": \(number)}")
                }
                try disk.cutPower()
                try mounted.kill()
                try disk.detach()
                try disk.attach()
                try mounted.mount()
                #expect(try mounted.store.integrity() == "ok", "cut \(cut)")
                for (name, turn) in fsynced {
                    #expect(SystemCall.exists("\(folder)/\(name).json"), "cut \(cut): \(name)")
                    try SavedTurn.check("\(folder)/\(name).json", atLeast: turn, "cut \(cut)")
                }
                for number in 0..<5 {
                    try SavedTurn.check(
                        "\(folder)/loose-\(number).json", atLeast: nil, "cut \(cut)")
                }
            }
            try FailpointTests.checkWhole(mounted, folder)
        }

        @Test("a save on a dead disk is refused, not acknowledged")
        func deadDisk() throws {
            let disk = try LoopFileSystem(kind: "xfs", megabytes: 320)
            let mounted = try MountedStore(state: "\(disk.directory)/state")
            let folder = try mounted.makeType()
            try SystemCall.writeFile("\(folder)/a.json", "{\"n\": 1}", sync: true)
            try disk.cutPower()
            #expect(throws: SystemCallError.self) {
                try SystemCall.writeFile("\(folder)/a.json", "{\"n\": 2}", sync: true)
            }
            // A failed sync stays failed: the pages that it lost are not tried again.
            #expect(throws: SystemCallError.self) {
                try SystemCall.writeFile("\(folder)/b.json", "{\"n\": 3}", sync: true)
            }
            try mounted.kill()
            try disk.detach()
            try disk.attach()
            try mounted.mount()
            #expect(try SystemCall.readText("\(folder)/a.json") == "{\"n\": 1}")
        }
    }
}
