import RecordModel
import RecordWire
import Testing

extension TreeScene {
    private static let size = 400

    /// A root with many children, c0 and so on, and a chain below one of them: d1 below c7, d2
    /// below d1, up to d50. With a share that both viewers have, where a permission is given.
    static func large(
        room: Int = 20, seconds: Double = 60, shared permission: String? = nil
    ) async throws -> TreeScene {
        let scene = try await TreeScene(room: room, seconds: seconds)
        _ = try await scene.modify([TreeOperation.save("root", below: nil)])
        for start in stride(from: 0, to: size, by: 100) {
            let operations = (start..<start + 100).map {
                TreeOperation.save("c\($0)", below: "root")
            }
            #expect(try await scene.modify(operations) == nil)
        }
        let chain = (1...50).map {
            TreeOperation.save("d\($0)", below: $0 == 1 ? "c7" : "d\($0 - 1)")
        }
        #expect(try await scene.modify(chain) == nil)
        if let permission { try await scene.share("root", permission) }
        return scene
    }

    /// The records of the large hierarchy.
    static var largeMembers: Set<String> {
        Set(["root"] + (0..<size).map { "c\($0)" }).union(largeChain)
    }

    /// c7 and what is below.
    static var largeChain: Set<String> { Set(["c7"] + (1...50).map { "d\($0)" }) }

    /// Shares a record with both viewers.
    func share(_ root: String, _ permission: String = "READ_ONLY") async throws {
        let batch = [TreeOperation.share(root, permission), TreeOperation.touch(root)]
        #expect(try await finish(batch) == nil)
        for viewer in Viewer.allCases { try await accept("share-\(root)", as: viewer) }
    }
}
