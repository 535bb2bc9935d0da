import Foundation
import TestSupport

/// The runs of the tests with a model, and the steps of a run that a difference needs.
enum ModelSeeds {
    /// - Parameter few: how many without `RECORDFS_LONG=1`.
    static func all(_ few: Int, of all: Int) -> [UInt64] {
        let chosen = ProcessInfo.processInfo.environment["RECORDFS_MODEL_SEED"]
        if let seed = chosen.flatMap({ UInt64($0) }) { return [seed] }
        return LongForm.seeds(few, of: all).map(UInt64.init)
    }

    /// Returns the steps without those that the difference does not need, a line each, and the
    /// difference.
    static func shortest<Step>(
        _ steps: [Step], _ run: ([Step]) throws -> String?
    ) throws -> (String, String) {
        var (steps, difference) = (steps, "")
        var length = steps.count / 2
        while length > 0 {
            var start = 0
            while start < steps.count {
                var fewer = steps
                fewer.removeSubrange(start..<min(start + length, steps.count))
                if let found = try run(fewer) {
                    (steps, difference) = (fewer, found)
                } else {
                    start += length
                }
            }
            length /= 2
        }
        return (steps.map { "\($0)" }.joined(separator: "\n"), difference)
    }
}
