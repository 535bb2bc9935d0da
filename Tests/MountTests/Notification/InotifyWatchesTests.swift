import Testing

@testable import RecordMount
@testable import RecordTree

extension MountTests {
    /// A touch of a directory costs calls into the kernel, and is for those alone who would see it.
    @Suite struct InotifyWatchesTests {
        private let directory = NodeNumber(kind: .type, row: 1).rawValue

        private func isCovered(by watched: UInt64...) -> Bool {
            InotifyWatches.cover(directory: directory, Set(watched))
        }

        @Test(
            "a directory that somebody watches is told, and not for the sake of other directories")
        func directories() {
            #expect(isCovered(by: directory))
            #expect(!isCovered(by: NodeNumber(kind: .type, row: 2).rawValue))
            #expect(!isCovered(by: NodeNumber(kind: .zone, row: 1).rawValue))
            #expect(!isCovered(by: NodeNumber.root.rawValue))
            #expect(!isCovered())
        }

        @Test("a watched file may be in any directory")
        func files() {
            #expect(isCovered(by: NodeNumber(kind: .record, row: 1).rawValue))
            // Scratch has the inodes of the host.
            #expect(isCovered(by: 4_711))
        }
    }
}
